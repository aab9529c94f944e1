import MediaTypes
import RoomConnections

/// What becomes of the connections that are tried one after another. A value without a clock.
struct Attempts {
    enum Phase {
        case none
        /// To be connected by the deadline.
        case connecting(deadline: MonotonicTime)
        case connected(since: MonotonicTime)
        /// Another one is tried then.
        case waiting(until: MonotonicTime)
    }

    /// The longest time for connecting.
    static let timeout = Interval.seconds(15)
    /// After a connection that lasted for so long, another one is tried soon.
    private static let lasting = Interval.seconds(5)

    private(set) var phase = Phase.none
    /// Identifies the current one; events of others don't count.
    private(set) var number = 0
    private var pace = RetryPace()

    var isConnected: Bool { if case .connected = phase { true } else { false } }
    /// Whether the last one has ended, which its connection may report twice.
    var isWaiting: Bool { if case .waiting = phase { true } else { false } }

    mutating func begin(_ number: Int, at now: MonotonicTime) {
        self.number = number
        phase = .connecting(deadline: now + Self.timeout)
    }

    mutating func connected(at now: MonotonicTime) { phase = .connected(since: now) }

    mutating func ended(at now: MonotonicTime) {
        if case .connected(let since) = phase, now - since >= Self.lasting { pace.reset() }
        phase = .waiting(until: now + pace.next())
    }

    /// Whether it is time for another one.
    func isDue(at now: MonotonicTime) -> Bool {
        if case .waiting(let until) = phase { now >= until } else { false }
    }

    /// Whether the current one has taken too long to connect.
    func isLate(at now: MonotonicTime) -> Bool {
        if case .connecting(let deadline) = phase { now >= deadline } else { false }
    }

    static let late = ConnectionEnd("no connection within \(timeout.milliseconds / 1000) s")
}
