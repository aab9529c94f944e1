import Glibc
import LinkTransport
import MediaTypes
import Threading

/// Connects to the host, and tries again with back-off if the host is gone.
///
/// Belongs to the capture thread, which polls `descriptor` until `deadline`; nothing here blocks.
struct HostAttempts {
    private enum State {
        case waiting(until: MonotonicTime)
        case dialling(LinkDial)
        /// There is a connection, or no other attempt is to be made.
        case over
    }

    private let address: LinkAddress
    /// The token to prove to the host, if there is one.
    private let token: LinkToken?
    private let log: EventLog
    private var state = State.waiting(until: .zero)
    private var delay = HostAttempts.minDelay
    private var hasToldWaiting = false
    private var hasBeenConnected = false

    private static let minDelay = Interval.milliseconds(100)
    private static let maxDelay = Interval.seconds(2)

    init(_ address: LinkAddress, token: LinkToken?, log: EventLog) {
        self.address = address
        self.token = token
        self.log = log
    }

    /// The descriptor for poll(2); -1 while no connection is being made.
    var descriptor: Int32 {
        if case .dialling(let dial) = state { dial.descriptor } else { -1 }
    }
    /// The events to poll `descriptor` for.
    var events: Int16 {
        if case .dialling(let dial) = state { dial.events } else { Int16(POLLIN) }
    }
    /// The time at which `connection` has something to do even if nothing has happened.
    var deadline: MonotonicTime {
        switch state {
        case .waiting(let until): until
        case .dialling(let dial): dial.deadline
        case .over: .distantFuture
        }
    }

    /// Returns the connection once there is one; nil while it isn't time to try, or while the host has not answered.
    ///
    /// - Throws: An error that makes another attempt useless.
    mutating func connection(_ now: MonotonicTime) throws(SocketError) -> SocketConnection? {
        do {
            guard let connection = try dialled(now) else { return nil }
            state = .over
            hasBeenConnected = true
            hasToldWaiting = false
            return connection
        } catch {
            guard error.isRetryable || isKnown(error) else { throw error }
            if !hasToldWaiting { log.info("\(error); waiting for it") }
            hasToldWaiting = true
            backOff(now)
            return nil
        }
    }

    /// Notes that the connection made at `since` is lost, and schedules another attempt.
    mutating func resume(_ now: MonotonicTime, connectedSince since: MonotonicTime) {
        // A host that accepts a connection and ends it at once must not be tried ten times a second.
        if now - since >= Self.maxDelay { delay = Self.minDelay }
        backOff(now)
    }

    /// Makes no more attempts, and abandons the one in progress.
    mutating func giveUp() {
        state = .over
    }

    /// Whether the error rejects a name or a token that an earlier connection has shown to be right: the name could be
    /// resolved, so the network is gone, or the host encrypted and had the token, so another host has replaced it.
    private func isKnown(_ error: SocketError) -> Bool {
        switch error {
        case .nameUnknown, .tokenRefused: hasBeenConnected
        default: false
        }
    }

    private mutating func dialled(_ now: MonotonicTime) throws(SocketError) -> SocketConnection? {
        switch state {
        case .waiting(let until) where now >= until:
            let dial = try LinkDial(to: address, token: token)
            state = .dialling(dial)
            return try dial.advance()
        case .dialling(let dial): return try dial.advance()
        case .waiting, .over: return nil
        }
    }

    private mutating func backOff(_ now: MonotonicTime) {
        state = .waiting(until: now + delay)
        delay = min(delay * 2, Self.maxDelay)
    }
}
