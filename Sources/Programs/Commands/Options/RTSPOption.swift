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
    /// Whether the settings for publishers are printed.
    private let isForPublishers: Bool

    /// - Parameter socket: where RTSP is served instead of at `--rtsp`, if there is one.
    init(
        _ options: ParsedOptions, _ configuration: HostConfiguration, socket: ListenAddress? = nil
    ) throws(UsageError) {
        isForPublishers = options.has("presenters")
        if let socket {
            (address, label) = (socket, "LISTEN_FDNAMES: rtsp")
            guard configuration.isOpenToNetwork || socket.isLoopback else {
                throw UsageError("\(label): other machines can reach the socket at \(socket); add --lan if they may")
            }
            return
        }
        label = "--rtsp " + (options.value("rtsp") ?? "")
        address = try Self.address(options, listen: configuration.listen)
    }

    /// Where RTSP is served beside HTTP at `listen`; nil if it isn't.
    static func address(_ options: ParsedOptions, listen: [ListenAddress]) throws(UsageError) -> ListenAddress? {
        try HostOptions.serverAddress(of: "rtsp", example: 554, options, listen: listen)
    }

    /// Starts to serve; nil if it wasn't requested.
    func start(_ host: ScreenRelayHost, log: EventLog) throws(UsageError) -> RTSPServer? {
        guard let address else { return nil }
        do throws(ServerError) {
            return try RTSPServer(host, at: address, log: log)
        } catch {
            throw UsageError(label, error)
        }
    }

    /// The lines for the sharer about watching the first room, and with `--presenters` about publishing into it.
    /// `track` follows the name of the room there.
    func lines(
        _ server: RTSPServer?, _ host: ScreenRelayHost, _ configuration: HostConfiguration, track: String
    ) -> [String] {
        guard let server else { return [] }
        let place = host.printedAddress(of: server.address)
        let user = configuration.password == nil ? "viewer" : "ROOM-PASSWORD"
        let proof = configuration.token.map { "\(user):\($0)@" } ?? ""
        let presenter = configuration.password == nil ? "presenter" : "ROOM-PASSWORD"
        let players = "Players of RTSP: rtsp://\(proof)\(place)/\(host.room)"
        guard isForPublishers, let token = configuration.presentingToken else { return [players] }
        let credentials = "\(presenter):\(PercentCoding.encode(token))"
        return [players, "Publishers over RTSP: rtsp://\(credentials)@\(place)/\(host.room)\(track)"]
    }
}
