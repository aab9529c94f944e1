import MediaTypes
import Synchronization
import Threading
import VideoDecoding

/// The decoder beside the way of the pictures, on a thread of its own.
///
/// It proves that the stream can be decoded, keeps the last picture, and where the source can't make an IDR, makes
/// one of it. It never holds up a source that makes IDRs: what it has no time for, it leaves out up to the next one.
final class DecodeTap: Sendable {
    /// How much may wait to be decoded: a second of pictures, or a few large ones.
    private static let waitingUnits = 60
    private static let waitingBytes = 16 << 20

    private let inbox: Mutex<Inbox>
    private let wake: WakeUp
    /// Signalled when the inbox was emptied, for a source that waits.
    private let room: WakeUp
    private let thread: Mutex<NamedThread?>

    /// What waits for the tap's thread.
    struct Inbox {
        var units: [Delivery] = []
        var byteCount = 0
        var hasDropped = false
        /// When an IDR is made of the last picture, unless the source's own comes before.
        var makeIDRAt: MonotonicTime?
        var canMakeIDR = false
        var snapshots: [SnapshotRequest] = []
        var isStopped = false
    }

    /// One of the source's access units.
    struct Delivery {
        var unit: AccessUnit
        var epoch: UInt64
        var arrival: MonotonicTime
        /// Counts the source's units from 1.
        var number: UInt64
    }

    /// Someone waits for a picture that is at least as new as `from`.
    struct SnapshotRequest {
        var from: MonotonicTime?
        var deadline: MonotonicTime
        var completion: @Sendable (I420Picture?) -> Void
    }

    private let log: EventLog

    init(log: EventLog) throws(IngestError) {
        guard let wake = WakeUp(), let room = WakeUp() else { throw .system("no descriptor left for the decode tap") }
        self.wake = wake
        self.room = room
        self.log = log
        inbox = Mutex(Inbox())
        thread = Mutex(nil)
    }

    deinit {
        // What the thread never saw.
        for request in inbox.withLock({ $0.snapshots }) { request.completion(nil) }
    }

    /// Starts the thread.
    ///
    /// - Throws: where the system has none left: nobody would answer a snapshot, and a source without IDRs would wait for a tap that takes
    ///   nothing.
    /// - Parameters:
    ///   - onFailure: a picture could not be decoded.
    ///   - onPicture: the host's own encoder made a picture of a delivery's epoch and number; the answer is whether it
    ///     carries the track now.
    ///   - startThread: makes the thread.
    func connect(
        onFailure: @escaping @Sendable () -> Void,
        onPicture: @escaping @Sendable (AccessUnit, UInt64, UInt64) -> Bool,
        startThread: (_ name: String, _ body: @escaping @Sendable () -> Void) -> NamedThread? = {
            NamedThread($0, body: $1)
        }
    ) throws(IngestError) {
        let wake = self.wake
        let log = self.log
        // The thread holds the inbox's owner only while it looks, so that letting go of the tap ends it.
        let started = startThread("decode-tap") { [weak self] in
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
                if self?.takeDueIDR() == true { work.makeIDR() }
                wake.wait(until: min(work.nextDeadline, self?.inbox.withLock { $0.makeIDRAt } ?? .distantFuture))
            }
        }
        guard let started else {
            stop()
            throw .system("no thread left for the decode tap")
        }
        thread.withLock { $0 = started }
    }

    /// Ends the thread; who waits for a snapshot gets none, and no source waits for room any more.
    func stop() {
        inbox.withLock { $0.isStopped = true }
        wake.signal()
        room.signal()
    }

    /// Waits, 5 s at most, until there is room for `unit` of a source that makes no IDRs; never for one that does.
    func awaitRoom(for unit: AccessUnit) {
        let deadline = monotonicNow() + .seconds(5)
        while monotonicNow() < deadline {
            let mustWait = inbox.withLock { inbox in
                !inbox.canMakeIDR && !inbox.isStopped && inbox.byteCount > 0
                    && inbox.byteCount + unit.bytes.count > Self.waitingBytes
            }
            guard mustWait else { return }
            room.wait(until: deadline)
        }
    }

    /// Takes the next access unit of the source; false where it was the first to be left out.
    func take(_ delivery: Delivery) -> Bool {
        let isFirstLoss = inbox.withLock { inbox in
            if delivery.unit.isIDR {
                inbox.hasDropped = false
                inbox.makeIDRAt = nil
            }
            let isFull =
                (inbox.canMakeIDR && inbox.units.count >= Self.waitingUnits)
                || inbox.byteCount + delivery.unit.bytes.count > Self.waitingBytes
            let hadDropped = inbox.hasDropped
            if isFull {
                inbox.units.removeAll()
                inbox.byteCount = 0
                inbox.hasDropped = !delivery.unit.isIDR
            }
            if !inbox.hasDropped {
                inbox.units.append(delivery)
                inbox.byteCount += delivery.unit.bytes.count
            }
            return inbox.hasDropped && !hadDropped
        }
        wake.signal()
        return !isFirstLoss
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

    /// Empties the inbox, but for what holds until it is changed.
    private func takeInbox() -> Inbox {
        let taken = inbox.withLock { inbox in
            let taken = inbox
            inbox.units = []
            inbox.byteCount = 0
            inbox.snapshots = []
            return taken
        }
        if !taken.canMakeIDR { room.signal() }
        return taken
    }

    /// Whether an IDR is to be made now; it is then no longer due. Asked after decoding: the source's own may have come, and
    /// while more waits to be decoded, there is a newer picture to make it of.
    private func takeDueIDR() -> Bool {
        let now = monotonicNow()
        return inbox.withLock { inbox in
            guard let due = inbox.makeIDRAt, due <= now, inbox.units.isEmpty else { return false }
            inbox.makeIDRAt = nil
            return true
        }
    }
}
