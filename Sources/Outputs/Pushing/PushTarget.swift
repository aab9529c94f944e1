import MediaFiles

/// Where a push goes: an address, or what names one anew for each connection, because signed URLs expire.
public struct PushTarget: Sendable, CustomStringConvertible {
    /// For people, logs and lists: without what may be secret.
    public let description: String
    /// The address, if it is known before a connection.
    private let address: PushAddress?
    /// Finds the address for a connection, on whose thread it is called; it may block for as long as that allows.
    let find: @Sendable (MediaConnection) throws(OutputError) -> PushAddress

    /// Whether what the path doesn't carry waits where we see it. What only a connection tells is assumed to.
    public var showsBacklog: Bool { address?.showsBacklog ?? true }

    /// Whether it waits for the other side to connect, as far as that is known.
    var isListener: Bool { address?.isListener ?? false }

    /// Whether it is on another machine, as far as that is known.
    var isRemote: Bool { address?.isRemote ?? true }

    /// This address, for each connection.
    public init(_ address: PushAddress) {
        description = address.description
        self.address = address
        find = { _ in address }
    }

    /// The address that `find` returns.
    ///
    /// `find` is called for each connection, on a thread of that connection alone, and may block. After
    /// ``PushSettings/connectTimeout``, or when the push is stopped, nobody waits for it any more. The description of
    /// the error that it throws is told to the push's user.
    ///
    /// - Parameter description: What people see, without what may be secret.
    public init(description: String, find: @escaping @Sendable () throws(OutputError) -> PushAddress) {
        self.description = description
        address = nil
        self.find = { (_: MediaConnection) throws(OutputError) -> PushAddress in try find() }
    }

    private init(_ object: StreamObject) {
        description = "object:\(object)"
        address = nil
        find = { (connection: MediaConnection) throws(OutputError) -> PushAddress in try object.read(connection) }
    }

    /// Reads a URL as ``PushAddress`` does, or `object:` and the path or the URL of a stream object.
    ///
    /// - Throws: ``OutputError`` that names what is wrong with it, without its secret part.
    public init(_ text: String) throws(OutputError) {
        if text.lowercased().hasPrefix("object:") {
            self.init(try StreamObject(String(text.dropFirst(7))))
        } else {
            self.init(try PushAddress(text))
        }
    }
}
