import MediaTypes
import Threading

/// Decides which TLS handshake begins next, and which one has to end for it: the address with the fewest running ones
/// goes first, so that a few addresses can't keep out all others.
///
/// Pure: connections are numbers, and the time is an argument.
struct HandshakeTurns {
    enum Step: Equatable {
        case begin(UInt64)
        /// A handshake that has not gone on for long, of the address with the most of them. Its end has to be noted.
        case end(UInt64)
    }

    private struct Handshake {
        let number: UInt64
        /// Where it comes from; nil if that doesn't count, as on loopback.
        let origin: Crowd.Origin?
        var began = MonotonicTime.zero
        var isEnding = false
    }

    private let limit: Int
    private let limitOfAddress: Int
    /// After this time, a handshake may have to end for another one.
    private let timeout: Interval
    private var waiting: [Handshake] = []
    private var running: [Handshake] = []

    init(limit: Int, limitOfAddress: Int, timeout: Interval) {
        self.limit = limit
        self.limitOfAddress = limitOfAddress
        self.timeout = timeout
    }

    /// Notes a connection whose client has begun to speak.
    mutating func add(_ number: UInt64, of address: String?) {
        waiting.append(Handshake(number: number, origin: address.map { Crowd.Origin($0) }))
    }

    /// Notes that a handshake is over, or that its connection is gone.
    mutating func end(_ number: UInt64) {
        running.removeAll { $0.number == number }
        waiting.removeAll { $0.number == number }
    }

    /// What to do now; nil if there is nothing. Ask again after each step, each change, and from time to time.
    mutating func next(now: MonotonicTime) -> Step? {
        let crowd = Crowd(running.map(\.origin))
        func count(_ handshake: Handshake) -> Int { handshake.origin.map { crowd.size(of: $0) } ?? 0 }
        let allowed = waiting.indices.filter { index in
            waiting[index].origin.map { crowd.count(of: $0) < limitOfAddress } ?? true
        }
        guard let index = allowed.min(by: { count(waiting[$0]) < count(waiting[$1]) }) else { return nil }
        if running.count < limit {
            var handshake = waiting.remove(at: index)
            handshake.began = now
            running.append(handshake)
            return .begin(handshake.number)
        }
        guard !running.contains(where: \.isEnding) else { return nil }
        let least = count(waiting[index])
        let stalled = running.indices.filter {
            running[$0].origin != nil && count(running[$0]) > least && now - running[$0].began >= timeout
        }
        // The oldest of the busiest address: they are in the order in which they began.
        guard let most = stalled.map({ count(running[$0]) }).max(),
            let ending = stalled.first(where: { count(running[$0]) == most })
        else { return nil }
        running[ending].isEnding = true
        return .end(running[ending].number)
    }
}
