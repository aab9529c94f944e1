import MediaTypes
import Synchronization
import Threading
import VideoDecoding

/// The decoder beside the way of the pictures, on a thread of its own.
///
/// It proves that the stream can be decoded, keeps the last picture, and where the source can't make an IDR, makes
/// one of it. It never holds a picture up: what it has no time for, it leaves out up to the next IDR.
final class DecodeTap: Sendable {
    /// How much may wait to be decoded: a second of pictures, or a few large ones.
    private static let waitingUnits = 60
    private static let waitingBytes = 16 << 20

    private let inbox: Mutex<Inbox>
    private let wake: WakeUp
    private let thread: Mutex<NamedThread?>

    /// What waits for the tap's thread.
    struct Inbox {
        var units: [(unit: AccessUnit, epoch: UInt64)] = []
        var byteCount = 0
        var hasDropped = false
        var makeIDRAt: MonotonicTime?
        var canMakeIDR: Bool?
        var snapshots: [SnapshotRequest] = []
        var isCarrying = false
        var isStopped = false
    }

    /// Someone waits for a picture that is at least as new as `from`.
    struct SnapshotRequest {
        var from: MonotonicTime?
        var deadline: MonotonicTime
        var completion: @Sendable (I420Picture?) -> Void
    }

    private let log: EventLog

    init(log: EventLog) throws(IngestError) {
        guard let wake = WakeUp() else { throw .system("no descriptor left for the decode tap") }
        self.wake = wake
        self.log = log
        inbox = Mutex(Inbox())
        thread = Mutex(nil)
    }

    deinit {
        // What the thread never saw.
        for request in inbox.withLock({ $0.snapshots }) { request.completion(nil) }
    }

    /// Starts the thread. `onFailure`: a picture could not be decoded. `onPicture`: the host's own encoder made one.
    func connect(
        onFailure: @escaping @Sendable () -> Void, onPicture: @escaping @Sendable (AccessUnit, UInt64) -> Void
    ) {
        let wake = self.wake
        let log = self.log
        // The thread holds the inbox's owner only while it looks, so that letting go of the tap ends it.
        let started = NamedThread("decode-tap") { [weak self] in
            let work = TapWork(log: log, onFailure: onFailure, onPicture: onPicture)
            while true {
                guard let taken = self?.takeInbox() else {
                    work.abandon([])
                    return
                }
                if taken.isStopped {
                    work.abandon(taken.snapshots)
                    return
                }
                work.perform(taken)
                wake.wait(until: work.nextDeadline)
            }
        }
        thread.withLock { $0 = started }
        if started == nil { log.error("no thread left for the decode tap: pictures go out unchecked") }
    }

    /// Ends the thread; who waits for a snapshot gets none.
    func stop() {
        inbox.withLock { $0.isStopped = true }
        wake.signal()
    }

    /// Takes the next access unit of the source. `isCarried`: the host's encoder has the track, so the picture is needed.
    func take(_ unit: AccessUnit, epoch: UInt64, isCarried: Bool) {
        inbox.withLock { inbox in
            inbox.isCarrying = isCarried
            if unit.isIDR {
                inbox.hasDropped = false
                inbox.makeIDRAt = nil
            }
            let isFull =
                inbox.units.count >= Self.waitingUnits || inbox.byteCount + unit.bytes.count > Self.waitingBytes
            if isFull {
                inbox.units.removeAll()
                inbox.byteCount = 0
                inbox.hasDropped = !unit.isIDR
            }
            guard !inbox.hasDropped else { return }
            inbox.units.append((unit, epoch))
            inbox.byteCount += unit.bytes.count
        }
        wake.signal()
    }

    /// Whether the source makes IDRs when asked: if not, a broken picture is worth decoding on.
    func sourceChanged(canMakeIDR: Bool) {
        inbox.withLock { $0.canMakeIDR = canMakeIDR }
        wake.signal()
    }

    /// Makes an IDR of the last picture at `moment`, unless the source's own came before that.
    func makeIDR(at moment: MonotonicTime) {
        inbox.withLock { inbox in inbox.makeIDRAt = min(moment, inbox.makeIDRAt ?? .distantFuture) }
        wake.signal()
    }

    func snapshot(
        from: MonotonicTime?, until deadline: MonotonicTime, completion: @escaping @Sendable (I420Picture?) -> Void
    ) {
        inbox.withLock {
            $0.snapshots.append(SnapshotRequest(from: from, deadline: deadline, completion: completion))
        }
        wake.signal()
    }

    /// Empties the inbox, but for an IDR whose time has not come.
    private func takeInbox() -> Inbox {
        let now = monotonicNow()
        return inbox.withLock { inbox in
            let taken = inbox
            inbox.units = []
            inbox.byteCount = 0
            inbox.snapshots = []
            inbox.canMakeIDR = nil
            if let due = inbox.makeIDRAt, due <= now { inbox.makeIDRAt = nil }
            return taken
        }
    }
}
