import MediaFiles
public import OutputSettings
import Threading
import WebRTCPushing

/// The target of a push: an address, or a closure that returns one for each connection, because signed URLs expire.
public struct PushTarget: Sendable, CustomStringConvertible {
    /// For people, logs and lists: without parts that may be secret.
    public let description: String
    private let place: Place

    private enum Place: Sendable {
        case address(PushAddress)
        /// Returns the address for a connection, on its thread; may block for as long as the connection allows.
        case found(by: @Sendable (MediaConnection) throws(OutputSettingsError) -> PushAddress)
        case server(WebRTCServer)
    }

    /// The address, if it is known before a connection.
    private var address: PushAddress? {
        if case .address(let address) = place { return address }
        return nil
    }

    /// The server, if the target is a WebRTC server.
    var server: WebRTCServer? {
        if case .server(let server) = place { return server }
        return nil
    }

    /// Whether the target gets the packets that viewers get, without re-encoding.
    public var takesWebRTC: Bool { server != nil }

    /// Whether data that the path doesn't carry waits where we see it, or is counted; assumed if each connection
    /// asks for its address.
    public var showsBacklog: Bool { !takesWebRTC && address?.showsBacklog ?? true }

    /// Whether the size of the target's send buffer can be set, as far as that is known.
    public var hasSendBuffer: Bool { !takesWebRTC && address?.hasSendBuffer ?? true }

    /// Whether it waits for the other side to connect, as far as that is known.
    var isListener: Bool { address?.isListener ?? false }

    /// Whether it waits for the other side to connect at an address that other machines can reach.
    public var listensToOthers: Bool { address.map { $0.isListener && $0.isRemote } ?? false }

    /// Whether players can begin only once two key frames have come, as far as that is known.
    var isSegmented: Bool { address?.container == .hls }

    /// Whether viewers may start to watch during writing; assumed if each connection asks for its
    /// address: it is a server's, as a rule.
    var isWatched: Bool { address?.container.isWatched ?? true }

    /// Whether times are in milliseconds, as far as that is known.
    var isCoarse: Bool { address.map { $0.container == .flash } ?? true }

    /// Whether it is on another machine, as far as that is known.
    var isRemote: Bool { server.map { !Loopback.contains($0.host) } ?? address?.isRemote ?? true }

    /// Returns the address for a connection, on its thread; may block for as long as the connection allows.
    func find(_ connection: MediaConnection) throws(OutputSettingsError) -> PushAddress {
        switch place {
        case .address(let address): return address
        case .found(let find): return try find(connection)
        case .server: throw OutputSettingsError("a server of WebRTC has no address to write to")
        }
    }

    /// This address, for each connection.
    public init(_ address: PushAddress) {
        description = address.description
        place = .address(address)
    }

    /// The address that `find` returns.
    ///
    /// `find` is called for each connection, on that connection's own thread, and may block. After
    /// ``PushSettings/connectTimeout``, or when the push is stopped, the push no longer waits for it. The push's user
    /// gets the description of the error that `find` throws.
    ///
    /// - Parameter description: What people see, without what may be secret.
    public init(description: String, find: @escaping @Sendable () throws(OutputSettingsError) -> PushAddress) {
        self.description = description
        place = .found { (_: MediaConnection) throws(OutputSettingsError) -> PushAddress in try find() }
    }

    private init(_ server: WebRTCServer) {
        description = server.description
        place = .server(server)
    }

    private init(_ object: StreamObject) {
        description = "object:\(object)"
        place = .found { (_: MediaConnection) throws(OutputSettingsError) -> PushAddress in try object.read() }
    }

    /// Reads a URL as ``PushAddress`` does, `object:` and the path or the URL of a stream object, or the server of a
    /// WebRTC session: `whip:https://TOKEN@HOST/PATH` or `janus:wss://TOKEN@HOST/PATH#ROOM,PIN`.
    ///
    /// - Throws: ``OutputSettingsError`` that names what is wrong with it, without its secret part.
    public init(_ text: String) throws(OutputSettingsError) {
        if text.lowercased().hasPrefix("object:") {
            self.init(try StreamObject(String(text.dropFirst(7))))
        } else if WebRTCServer.isMeant(by: text) {
            self.init(try WebRTCServer(text))
        } else {
            self.init(try PushAddress(text))
        }
    }
}
