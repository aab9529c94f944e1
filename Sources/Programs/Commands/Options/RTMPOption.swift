import ByteCoding
import CommandLine
import RTMPServing
import ScreenRelayKit
import SecureTransport
import Signalling
import Threading

/// `--rtmp [ADDRESS:]PORT`: the address at which publishers over RTMP are accepted.
struct RTMPOption {
    static let option = Option(
        long: "rtmp", value: .required("[ADDR:]PORT"),
        help:
            "accept publishers over RTMP (OBS, FFmpeg and others) at rtmp://HOST:PORT/live, or with a certificate also "
            + "at rtmps://HOST:PORT/live, with the stream key ROOM?token=TOKEN, which is printed with the presenters' "
            + "token; 1935 is the usual port, 0 uses any free one",
        alsoSoughtAs: ["obs", "publish"])

    /// Nil if no publisher is accepted.
    private let address: ListenAddress?
    private let label: String

    init(_ options: ParsedOptions, _ configuration: HostConfiguration) throws(UsageError) {
        guard let wanted = try options.value("rtmp", as: .listenAddress(example: 1935)) else {
            (address, label) = (nil, "")
            return
        }
        label = "--rtmp " + (options.value("rtmp") ?? "")
        address = ListenAddress(
            address: wanted.host ?? configuration.listen.first?.address ?? "127.0.0.1", port: wanted.port)
        guard configuration.isOpenToNetwork || wanted.host == nil || wanted.isLoopback else {
            throw UsageError("\(label): other machines can reach that address; add --lan if they may")
        }
    }

    /// Starts to accept publishers; nil if that wasn't requested.
    func start(_ host: ScreenRelayHost, log: EventLog) throws(ServerError) -> RTMPServer? {
        guard let address else { return nil }
        return try RTMPServer(host, at: address, log: log)
    }

    /// The line for an error of `start`.
    func text(for error: ServerError) -> String { "\(label): \(error)" }

    /// What to tell the sharer: how to publish into the first room.
    static func lines(_ server: RTMPServer?, _ host: ScreenRelayHost, _ configuration: HostConfiguration) -> [String] {
        guard let server, let token = configuration.presentingToken else { return [] }
        let isWildcard = ["::", "0.0.0.0"].contains(server.address.address)
        let address = isWildcard ? host.reachableAddresses.first ?? "127.0.0.1" : server.address.address
        let (scheme, name) = configuration.certificate.map { ("rtmps", $0.name(at: address)) } ?? ("rtmp", address)
        let place = ListenAddress(address: name, port: server.address.port)
        let password = configuration.password == nil ? "" : ",ROOM-PASSWORD"
        let key = "\(PercentCoding.encode(host.room))?token=\(PercentCoding.encode(token))\(password)"
        return ["Publishers over RTMP: \(scheme)://\(place)/live with the stream key \(key)"]
    }
}
