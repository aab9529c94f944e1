import ByteCoding
import CommandLine
import RTSPServing
import ScreenRelayKit
import Signalling

/// `--rtsp [ADDRESS:]PORT`: the address at which RTSP players get the rooms.
struct RTSPOption {
    static let option = Option(
        long: "rtsp", value: .required("[ADDR:]PORT"),
        help:
            "also serve the rooms, with their sound, to RTSP players (ffplay, GStreamer and others) at "
            + "rtsp://HOST:PORT/ROOM/TRACK, and accept publishers there; the room token, or the presenters' token, is "
            + "the password; 554 is the usual port, 0 uses any free one",
        alsoSoughtAs: ["vlc", "player", "camera", "publish"])

    let place: ServerPlace
    /// Whether the settings for publishers are printed.
    private let isForPublishers: Bool

    /// - Parameter socket: where RTSP is served instead of at `--rtsp`, if there is one.
    init(
        _ options: ParsedOptions, _ configuration: HostConfiguration, socket: ListenAddress? = nil
    ) throws(UsageError) {
        isForPublishers = options.has("presenters")
        if let socket {
            place = ServerPlace(address: socket, label: "LISTEN_FDNAMES: rtsp")
            guard configuration.isOpenToNetwork || socket.isLoopback else {
                throw UsageError(
                    "\(place.label): other machines can reach the socket at \(socket); add --lan if they may")
            }
            return
        }
        place = try Self.place(options, listen: configuration.listen)
    }

    /// Where RTSP is served beside HTTP at `listen`.
    static func place(_ options: ParsedOptions, listen: [ListenAddress]) throws(UsageError) -> ServerPlace {
        try ServerPlace("rtsp", example: 554, options, listen: listen)
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
