import CommandLine
import RTMPServing
import RTSPServing
import SRTServing
import ScreenRelayKit
import Signalling
import Threading

/// The options for the servers of a share or host besides HTTP: RTSP, and publishers over RTMP and SRT.
struct MediaServerOptions {
    static let options = [RTSPOption.option, RTMPOption.option, SRTOption.option, SRTOption.passphraseFile]

    private let rtsp: RTSPOption
    private let rtmp: ServerPlace
    private let srt: SRTOption

    /// - Parameter socket: where RTSP is served instead of at `--rtsp`, if there is one.
    init(
        _ options: ParsedOptions, _ configuration: HostConfiguration, rtsp socket: ListenAddress? = nil
    ) throws(UsageError) {
        rtsp = try RTSPOption(options, configuration, socket: socket)
        rtmp = try RTMPOption.place(options, listen: configuration.listen)
        srt = try SRTOption(options, configuration)
    }

    /// Starts the requested servers.
    ///
    /// - Parameter track: what follows the room in the printed settings for publishers: empty, or `/TRACK` if a capture
    ///   has the room's first track.
    /// - Throws: ``UsageError`` that names the option whose server can't be started; then none runs.
    func start(
        _ host: ScreenRelayHost, _ configuration: HostConfiguration, track: String = "", log: EventLog
    ) throws(UsageError) -> MediaServers {
        let players = try rtsp.place.start { (address) throws(ServerError) in
            try RTSPServer(host, at: address, log: log)
        }
        let publishers = try rtmp.start { (address) throws(ServerError) in
            try RTMPServer(host, at: address, log: log)
        }
        let callers = try srt.place.start { (address) throws(ServerError) in
            try SRTServer(host, at: address, passphrase: srt.passphrase, log: log)
        }
        let lines =
            RTMPOption.lines(publishers, host, configuration, track: track)
            + srt.lines(callers, host, configuration, track: track)
            + rtsp.lines(players, host, configuration, track: track)
        return MediaServers(players: players, publishers: publishers, callers: callers, lines: lines)
    }
}

/// The running servers of a share or host besides HTTP.
struct MediaServers {
    fileprivate let players: RTSPServer?
    fileprivate let publishers: RTMPServer?
    fileprivate let callers: SRTServer?
    /// The lines for the sharer about watching the first room and publishing into it.
    let lines: [String]

    /// Ends all clients and stops listening.
    func stop() {
        players?.stop()
        publishers?.stop()
        callers?.stop()
    }
}

/// Where a server besides HTTP listens.
struct ServerPlace {
    /// Nil if there is to be no such server.
    let address: ListenAddress?
    /// What the place is called in errors.
    let label: String

    /// Starts the server by `make`; nil if there is to be none.
    func start<Server>(_ make: (ListenAddress) throws(ServerError) -> Server) throws(UsageError) -> Server? {
        guard let address else { return nil }
        do throws(ServerError) {
            return try make(address)
        } catch {
            throw UsageError("\(label): \(error)", exitCode: error.isTaken ? .unavailable : .system)
        }
    }
}

extension ServerPlace {
    /// The value `[ADDRESS:]PORT` of `--OPTION`. Without ADDRESS, it is the address of HTTP, which is served at
    /// `listen`.
    ///
    /// - Parameter example: the usual port, for error messages.
    init(_ option: String, example: UInt16, _ options: ParsedOptions, listen: [ListenAddress]) throws(UsageError) {
        label = "--\(option) " + (options.value(option) ?? "")
        let wanted = try options.value(option, as: .listenAddress(example: example))
        if let wanted, wanted.host != nil, !wanted.isLoopback, !options.has("lan") {
            throw UsageError("\(label): other machines can reach that address; add --lan if they may")
        }
        address = wanted.map { ListenAddress(address: $0.host ?? listen.first?.address ?? "127.0.0.1", port: $0.port) }
    }
}

extension ScreenRelayHost {
    /// The address to print for a server that listens at `address`: if it is all of this machine's addresses,
    /// one at which clients can reach it.
    func printedAddress(of address: ListenAddress) -> ListenAddress {
        let isWildcard = ["::", "0.0.0.0"].contains(address.address)
        let name = isWildcard ? reachableAddresses.first ?? "127.0.0.1" : address.address
        return ListenAddress(address: name, port: address.port)
    }
}
