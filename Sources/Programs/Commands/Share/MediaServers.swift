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
    private let rtmp: RTMPOption
    private let srt: SRTOption

    /// - Parameter socket: where RTSP is served instead of at `--rtsp`, if there is one.
    init(
        _ options: ParsedOptions, _ configuration: HostConfiguration, rtsp socket: ListenAddress? = nil
    ) throws(UsageError) {
        rtsp = try RTSPOption(options, configuration, socket: socket)
        rtmp = try RTMPOption(options, configuration)
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
        let players = try rtsp.start(host, log: log)
        let publishers = try rtmp.start(host, log: log)
        let callers = try srt.start(host, log: log)
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

extension UsageError {
    /// The error of a server that can't be started, for the option with this label.
    init(_ label: String, _ error: ServerError) {
        self.init("\(label): \(error)", exitCode: error.isTaken ? .unavailable : .system)
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
