import Synchronization

/// How many bytes one recording, or several recordings together, may have. Thread-safe.
///
/// Each file takes the bytes of a record before it writes the record. What a file has taken stays taken, even if the
/// file is removed later; only a recording without messages gives its bytes back.
public final class RecordingBudget: Sendable {
    /// The limit in bytes.
    public let limit: UInt64
    private let rest: Mutex<UInt64>

    /// A budget of `limit` bytes, of which nothing is taken.
    public init(limit: UInt64) {
        self.limit = limit
        rest = Mutex(limit)
    }

    /// Takes `count` bytes. Returns false, and takes nothing, if there are fewer left.
    func take(_ count: UInt64) -> Bool {
        rest.withLock { rest in
            guard count <= rest else { return false }
            rest -= count
            return true
        }
    }

    /// Gives back `count` bytes that were taken.
    func giveBack(_ count: UInt64) {
        rest.withLock { $0 += count }
    }
}
