import Glibc
import LinkTransport
import MediaTypes

/// The attempts to reach the host: again with back-off where it is gone.
///
/// Belongs to the capture thread, which polls `descriptor` until `deadline`; nothing here waits.
struct HostAttempts {
    private enum State {
        case waiting(until: MonotonicTime)
        case dialling(LinkDial)
        /// There is a connection, or there shall be none any more.
        case over
    }

    let address: LinkAddress
    /// Whether there is a token to show.
    private let hasToken: Bool
    private let log: (CaptureLogLevel, String) -> Void
    private var state = State.waiting(until: .zero)
    private var delay = HostAttempts.shortestDelay
    private var hasToldWaiting = false
    private var hasBeenConnected = false

    private static let shortestDelay = Interval.milliseconds(100)
    private static let longestDelay = Interval.seconds(2)

    init(_ address: LinkAddress, hasToken: Bool, log: @escaping (CaptureLogLevel, String) -> Void) {
        self.address = address
        self.hasToken = hasToken
        self.log = log
    }

    /// For poll(2); -1 while no connection is being made.
    var descriptor: Int32 {
        if case .dialling(let dial) = state { dial.descriptor } else { -1 }
    }
    /// What to poll `descriptor` for.
    var events: Int16 {
        if case .dialling(let dial) = state { dial.events } else { Int16(POLLIN) }
    }
    /// When `connection` has something to do although nothing has happened.
    var deadline: MonotonicTime {
        switch state {
        case .waiting(let until): until
        case .dialling(let dial): dial.deadline
        case .over: .distantFuture
        }
    }

    /// The connection where there is one now; nil while it isn't time to try, or the host has not answered.
    ///
    /// - Throws: why there is no use in another attempt.
    mutating func connection(_ now: MonotonicTime) throws(LinkTransportError) -> LinkConnection? {
        do {
            guard let connection = try dialled(now) else { return nil }
            state = .over
            hasBeenConnected = true
            hasToldWaiting = false
            return connection
        } catch {
            guard error.isRetryable || isNameThatWas(error) else { throw error }
            if !hasToldWaiting { log(.info, "\(error); waiting for it") }
            hasToldWaiting = true
            backOff(now)
            return nil
        }
    }

    /// The connection that was there `since` then is lost: another one is to be made.
    mutating func resume(_ now: MonotonicTime, connectedSince since: MonotonicTime) {
        // A host that takes us and ends us at once must not be asked ten times a second.
        if now - since >= Self.longestDelay { delay = Self.shortestDelay }
        backOff(now)
    }

    /// Makes no more attempts, and leaves the one that is being made.
    mutating func giveUp() {
        state = .over
    }

    /// A name that was right once will be again: it is the network that is gone.
    private func isNameThatWas(_ error: LinkTransportError) -> Bool {
        if case .nameUnknown = error { hasBeenConnected } else { false }
    }

    private mutating func dialled(_ now: MonotonicTime) throws(LinkTransportError) -> LinkConnection? {
        switch state {
        case .waiting(let until) where now >= until:
            let dial = try LinkDial(to: address, hasToken: hasToken)
            state = .dialling(dial)
            return try dial.advance()
        case .dialling(let dial): return try dial.advance()
        case .waiting, .over: return nil
        }
    }

    private mutating func backOff(_ now: MonotonicTime) {
        state = .waiting(until: now + delay)
        delay = min(delay * 2, Self.longestDelay)
    }
}
