import CLinux
import Clocks
import MediaSessions
import MediaTypes
import STUN
import Synchronization
import Threading

/// The media threads of a server, and what they share. Each thread has a ``MediaLoop`` with sessions of its own.
///
/// A session stays in the loop that it was opened in. Which loop that is follows from its identifier, which is in the
/// transaction identifiers of its requests, and from its user name fragments, which its peer's checks name. So neither
/// needs a table; only addresses do. May be used on any thread.
final class LoopGroup: Sendable {
    /// The loop that receives from the UDP socket, accepts TCP connections and asks STUN servers.
    static let first = 0
    /// How many datagrams are sent for each that is received, about. With so many more sessions, receiving for them is
    /// as much work as a session.
    private static let sentPerReceived = 8

    /// How many sessions the first loop usually has before others get any: each thread is woken for each frame.
    static let usualSessionsAlone = 32

    let loops: [SharedLoop]
    private let sessionsAlone: Int
    /// The loop of each peer's address; nil if there is only one loop.
    let addresses: LoopsByAddress?
    /// The limits of TCP connections.
    let connections = StreamAdmission()
    private let checks = Mutex(CheckRateLimiter())

    /// A group of `count` loops, of at least one and at most ``MediaServerConfiguration/threadLimit``, of which the
    /// first has `sessionsAlone` sessions before others get any; nil if the process has no file descriptor left.
    init?(count: Int, sessionsAlone: Int = 0) {
        self.sessionsAlone = sessionsAlone
        var loops: [SharedLoop] = []
        for _ in 0..<min(max(count, 1), MediaServerConfiguration.threadLimit) {
            guard let loop = SharedLoop() else { return nil }
            loops.append(loop)
        }
        self.loops = loops
        addresses = loops.count > 1 ? LoopsByAddress() : nil
    }

    /// The usual number of threads on this machine, for a process that may take `limit` processors. More threads than
    /// that would each have too little to do to be taken for overloaded (``LoopLag/Limits/busyShare``).
    static func usualCount(within limit: Int?) -> Int {
        count(forProcessors: min(Int(shim_processor_count()), limit ?? .max))
    }

    /// The number of threads for this number of processors. With two, capture and its encoder need the other one.
    static func count(forProcessors processors: Int) -> Int {
        processors <= 2 ? 1 : min(processors, MediaServerConfiguration.threadLimit)
    }

    /// Whether a request to a candidate of a viewer's may be sent now; if so, it counts for the bound of all viewers.
    func admitsCheck(now: MonotonicTime) -> Bool {
        checks.withLock { checks in checks.take(now: now) }
    }

    /// Has all loops end their sessions and themselves.
    func stop() {
        for loop in loops { loop.inbox.post(.stop) }
    }

    // MARK: Sessions

    /// The loop for another session: the one with the least work, of those that aren't overloaded if there are any.
    func loopForNewSession(now: MonotonicTime = .now()) -> Int {
        if loops[Self.first].sessionCount < sessionsAlone,
            !loops[Self.first].statistics.load.isOverloaded(at: now)
        {
            return Self.first
        }
        let total = loops.reduce(0) { $0 + $1.sessionCount }
        func work(_ loop: Int) -> (Int, Int) {
            let own = loops[loop].sessionCount
            let isOverloaded = loops[loop].statistics.load.isOverloaded(at: now)
            return (isOverloaded ? 1 : 0, own * Self.sentPerReceived + (loop == Self.first ? total - own : 0))
        }
        return loops.indices.min { work($0) < work($1) } ?? Self.first
    }

    /// The loop that the session belongs to.
    func loop(of session: MediaSessionID) -> Int { Int(session.rawValue % UInt64(loops.count)) }

    /// The identifier of a loop's session with this number, counted from 1.
    func identifier(ofSession number: UInt64, in loop: Int) -> MediaSessionID {
        MediaSessionID(rawValue: number * UInt64(loops.count) + UInt64(loop))
    }

    /// What the user name fragments of the loop's sessions begin with: a letter. What follows is random.
    func ufragPrefix(of loop: Int) -> String {
        String(decoding: [UInt8(ascii: "A") + UInt8(loop)], as: UTF8.self)
    }

    /// The loop of the session that a peer's message names; nil if it can't name any. There need not be such a session.
    func loop(of message: STUNMessage) -> Int? {
        switch message.messageClass {
        case .request:
            guard let letter = ICEAgent.localUfrag(of: message)?.utf8.first else { return nil }
            let loop = Int(letter) - Int(UInt8(ascii: "A"))
            return loops.indices.contains(loop) ? loop : nil
        case .success, .error: return loop(of: SelectedPair.session(of: message.transactionID))
        case .indication: return nil
        }
    }

    // MARK: Load

    /// How late a loop has made its sessions at most, in the last second or two; 0 while all rest.
    func lag(now: MonotonicTime) -> Interval {
        loops.map { $0.statistics.load.lag.worst(at: now) }.max() ?? .zero
    }

    /// Whether no loop has room for another session.
    func isOverloaded(at now: MonotonicTime) -> Bool {
        loops.allSatisfy { $0.statistics.load.isOverloaded(at: now) }
    }
}
