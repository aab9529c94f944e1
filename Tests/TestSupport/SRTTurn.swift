import MediaTypes
import Synchronization

/// A test's turn to use libsrt in this process, until it is released.
///
/// libavformat doesn't close the socket with which a connection has listened. Only the end of libsrt's last user frees
/// its port, so a push that listens twice at a port must be alone.
public final class SRTTurn: Sendable {
    private static let isTaken = Mutex(false)

    /// Waits for the turn.
    public init() throws {
        try eventually("a turn with libsrt", within: .seconds(300)) {
            Self.isTaken.withLock { isTaken in
                defer { isTaken = true }
                return !isTaken
            }
        }
    }

    deinit { Self.isTaken.withLock { $0 = false } }
}
