/// What an output is doing, as its user sees it.
public enum OutputState: String, Hashable, Sendable {
    /// It has not been started yet.
    case unknown
    /// It was started, and waits for its track, which doesn't exist at present.
    case waiting
    /// It was started, or started again by hand, and the other side has not taken the connection yet.
    case connecting
    /// What is shared goes out.
    case connected
    /// It was stopped, or its track has ended, and what waits is still being sent.
    case disconnecting
    /// It has ended, because it was stopped.
    case disconnected
    /// It has ended, because of an error; only its user can start it again.
    case error
    /// The connection was lost or refused, and is tried again by itself.
    case autoReconnecting

    /// Whether it does nothing until its user starts it, for the first time or again.
    public var isOver: Bool {
        switch self {
        case .unknown, .disconnected, .error: true
        case .waiting, .connecting, .connected, .disconnecting, .autoReconnecting: false
        }
    }
}

/// Why an output failed.
public struct OutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line for people, without the address's secret parts.
    public var description: String
    /// Whether another attempt is useless, as with an address that can't be understood.
    public var isFinal: Bool
    /// Whether nobody listens at the address, as where a server is just starting again.
    public var foundNobody: Bool
    /// Whether the server may have refused because the stream name is in use: it keeps the name of a publisher
    /// that has vanished for half a minute, and that may have been this program before it was killed.
    ///
    /// With `isFinal`, the refusal can also mean something that no other attempt changes, such as a wrong token.
    public var nameMayBeInUse: Bool

    /// Creates a failure.
    public init(
        _ description: String, isFinal: Bool = false, foundNobody: Bool = false, nameMayBeInUse: Bool = false
    ) {
        self.description = description
        self.isFinal = isFinal
        self.foundNobody = foundNobody
        self.nameMayBeInUse = nameMayBeInUse
    }
}
