import Clocks
import MediaTypes
import Synchronization
import Threading

/// Refuses new sessions when the host's memory nears the limit of its control group. Beyond the limit, the kernel would
/// kill the host, and with it the sessions that are open.
///
/// Reads the limits only when a session is about to begin. Any thread.
final class MemoryAdmission: Sendable {
    /// The memory that a session takes, in bytes: up to 0.3 MiB was measured over WebRTC (`Documentation/scale.md`).
    /// A viewer over a WebSocket also has TLS, and whole frames in its queue.
    static let session: Int64 = 1 << 20
    /// How long a new session takes to use that memory.
    static let settling = Interval.seconds(2)
    /// For how long a reading is used, so that many viewers at once don't read the files each time.
    static let readInterval = Interval.milliseconds(100)

    private struct State {
        var group: LimitedGroup?
        var readAt: MonotonicTime?
        /// When the sessions were admitted that don't show in the memory in use yet.
        var admitted: [MonotonicTime] = []
        var hasWarned = false
    }

    private let read: @Sendable () -> LimitedGroup?
    private let clock: @Sendable () -> MonotonicTime
    private let log: EventLog
    private let state = Mutex(State())

    /// - Parameters:
    ///   - log: gets a warning at the first refusal.
    ///   - read: returns the group that has the least room; nil if there is no limit.
    init(
        log: EventLog, clock: @escaping @Sendable () -> MonotonicTime = { MonotonicTime.now() },
        read: @escaping @Sendable () -> LimitedGroup? = { MemoryLimits().tightestGroup() }
    ) {
        self.log = log
        self.clock = clock
        self.read = read
    }

    /// Admits a session, or returns why there is no room for it, for the viewer.
    func refusal() -> String? {
        let now = clock()
        let (fullGroup, isFirst) = state.withLock { state -> (LimitedGroup?, Bool) in
            if state.readAt.map({ now - $0 >= Self.readInterval }) ?? true {
                state.group = read()
                state.readAt = now
            }
            state.admitted.removeAll { now - $0 >= Self.settling }
            guard let group = state.group else { return (nil, false) }
            guard group.room >= Self.session * Int64(state.admitted.count + 1) else {
                defer { state.hasWarned = true }
                return (group, !state.hasWarned)
            }
            state.admitted.append(now)
            return (nil, false)
        }
        guard let fullGroup else { return nil }
        if isFirst {
            log.warning(
                "new viewers are refused: \(fullGroup.path) uses \(fullGroup.used >> 20) MiB of memory, and its limit "
                    + "is \(fullGroup.limit >> 20) MiB; raise it (MemoryMax= of the service, --memory of a container)")
        }
        return "the host has too little memory for another viewer"
    }
}
