import ByteCoding
import CommandLine
import RTMPServing
import ScreenRelayKit
import SecureTransport
import Signalling

/// `--rtmp [ADDRESS:]PORT`: the address at which publishers over RTMP are accepted.
enum RTMPOption {
    static let option = Option(
        long: "rtmp", value: .required("[ADDR:]PORT"),
        help:
            "accept publishers over RTMP (OBS, FFmpeg and others) at rtmp://HOST:PORT/live, or with a certificate also "
            + "at rtmps://HOST:PORT/live, with the stream key ROOM?token=TOKEN, which is printed with the presenters' "
            + "token; 1935 is the usual port, 0 uses any free one",
        alsoSoughtAs: ["obs", "publish"])

    /// Where publishers are accepted. HTTP is served at `listen`.
    static func place(_ options: ParsedOptions, listen: [ListenAddress]) throws(UsageError) -> ServerPlace {
        try ServerPlace("rtmp", example: 1935, options, listen: listen)
    }

    /// The lines for the sharer about publishing into the first room. `track` follows the name of the room.
    static func lines(
        _ server: RTMPServer?, _ host: ScreenRelayHost, _ configuration: HostConfiguration, track: String
    ) -> [String] {
        guard let server, let token = configuration.presentingToken else { return [] }
        let password = configuration.password == nil ? "" : ",ROOM-PASSWORD"
        let key = "\(PercentCoding.encode(host.room))\(track)?token=\(PercentCoding.encode(token))\(password)"
        var (scheme, place) = ("rtmp", host.printedAddress(of: server.address))
        if let certificate = configuration.certificate {
            scheme = "rtmps"
            place = ListenAddress(address: certificate.name(at: place.address), port: place.port)
        }
        return ["Publishers over RTMP: \(scheme)://\(place)/live with the stream key \(key)"]
    }
}
