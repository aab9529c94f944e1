import OutputLife

/// Why a connection to a room, or one of its media sessions, has ended.
package struct ConnectionEnd: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of reason it is.
    package enum Cause: Hashable, Sendable {
        /// The server can't be reached, is busy, or has ended the connection.
        case unavailable
        /// The server doesn't accept the token or the password.
        case refused
        /// The system has no thread, descriptor or port left.
        case system
    }

    /// One line for people, without secrets.
    package let description: String
    package let cause: Cause
    /// Whether another attempt may succeed.
    package let mayPass: Bool

    package init(_ description: String, _ cause: Cause = .unavailable, mayPass: Bool = true) {
        self.description = description
        self.cause = cause
        self.mayPass = mayPass
    }

    /// The end because of a server's answer. With a wrong token or password, another attempt is useless.
    init(of error: OutputError) {
        self.init("\(error)", error.isFinal ? .refused : .unavailable, mayPass: !error.isFinal)
    }

    /// The room has a waiting room, in which a client can't wait.
    static let needsPresentersToken = ConnectionEnd(
        "viewers of this room wait on its page to be let in; a client needs the presenters' token", .refused,
        mayPass: false)
    package static let noResources = ConnectionEnd(
        "the system has no thread or descriptor left", .system, mayPass: false)
}
