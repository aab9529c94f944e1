/// Why a server for players or publishers of the host's tracks can't be started, in one line.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    public let description: String
    /// Whether another program has the port.
    public let isTaken: Bool

    package init(_ description: String) {
        self.description = description
        isTaken = false
    }

    /// Another program has the port.
    package init(taken port: UInt16) {
        description = "the port \(port) is taken by another program"
        isTaken = true
    }
}
