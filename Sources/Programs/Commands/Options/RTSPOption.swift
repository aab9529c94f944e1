import ByteCoding
import CommandLine
import RTSPServing
import ScreenRelayKit
import Signalling
import Threading

/// `--rtsp [ADDRESS:]PORT`: the address at which RTSP players get the rooms.
struct RTSPOption {
    static let option = Option(
        long: "rtsp", value: .required("[ADDR:]PORT"),
        help:
            "also serve the rooms, with their sound, to RTSP players (ffplay, GStreamer and others) at "
            + "rtsp://HOST:PORT/ROOM/TRACK, and accept publishers there; the room token, or the presenters' token, is "
            + "the password; 554 is the usual port, 0 uses any free one",
        alsoSoughtAs: ["vlc", "player", "camera", "publish"])

    /// Nil if nothing is served.
    private let address: ListenAddress?
    private let label: String

    /// - Parameter socket: where RTSP is served instead of at `--rtsp`, if there is one.
    init(
        _ options: ParsedOptions, _ configuration: HostConfiguration, socket: ListenAddress? = nil
    ) throws(UsageError) {
        if let socket {
            (address, label) = (socket, "LISTEN_FDNAMES: rtsp")
            guard configuration.isOpenToNetwork || socket.isLoopback else {
                throw UsageError("\(label): other machines can reach the socket at \(socket); add --lan if they may")
            }
            return
        }
        guard let wanted = try options.value("rtsp", as: .listenAddress(example: 554)) else {
            (address, label) = (nil, "")
            return
        }
        label = "--rtsp " + (options.value("rtsp") ?? "")
        address = try Self.address(options, listen: configuration.listen)
        guard configuration.isOpenToNetwork || wanted.host == nil || wanted.isLoopback else {
            throw UsageError("\(label): other machines can reach that address; add --lan if they may")
        }
    }

    /// Where RTSP is served beside HTTP at `listen`; nil if it isn't.
    static func address(_ options: ParsedOptions, listen: [ListenAddress]) throws(UsageError) -> ListenAddress? {
        guard let wanted = try options.value("rtsp", as: .listenAddress(example: 554)) else { return nil }
        return ListenAddress(address: wanted.host ?? listen.first?.address ?? "127.0.0.1", port: wanted.port)
    }

    /// Starts to serve; nil if it wasn't requested.
    func start(_ host: ScreenRelayHost, log: EventLog) throws(ServerError) -> RTSPServer? {
        guard let address else { return nil }
        return try RTSPServer(host, at: address, log: log)
    }

    /// The line for an error of `start`.
    func text(for error: ServerError) -> String { "\(label): \(error)" }

    /// What to tell the sharer: how to watch the first room, and with `--presenters` how to publish into it.
    static func lines(
        _ server: RTSPServer?, _ host: ScreenRelayHost, _ configuration: HostConfiguration, _ options: ParsedOptions
    ) -> [String] {
        guard let server else { return [] }
        let isWildcard = ["::", "0.0.0.0"].contains(server.address.address)
        let name = isWildcard ? host.reachableAddresses.first ?? "127.0.0.1" : server.address.address
        let place = ListenAddress(address: name, port: server.address.port)
        let user = configuration.password == nil ? "viewer" : "ROOM-PASSWORD"
        let proof = configuration.token.map { "\(user):\($0)@" } ?? ""
        let presenter = configuration.password == nil ? "presenter" : "ROOM-PASSWORD"
        let players = "Players of RTSP: rtsp://\(proof)\(place)/\(host.room)"
        guard options.has("presenters"), let token = configuration.presentingToken else { return [players] }
        return [
            players, "Publishers over RTSP: rtsp://\(presenter):\(PercentCoding.encode(token))@\(place)/\(host.room)",
        ]
    }
}
