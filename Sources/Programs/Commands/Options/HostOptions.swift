import CommandLine
import Glibc
import Ingest
import LinkTransport
import RecordingFiles
import STUN
import ScreenRelayKit
import Signalling
import Threading

/// The options that `share` and `host` have in common, and the host configuration that they describe.
enum HostOptions {
    static let alternatives =
        [["open", "token-file"], ["open", "new-token"]] + AccessOptions.alternatives + SharingNews.alternatives

    /// - Parameter sockets: where HTTP is served instead of at `--listen`, if there are any.
    static func configuration(
        _ options: ParsedOptions, sockets: [ListenAddress] = []
    ) throws(UsageError) -> HostConfiguration {
        let recording = try RecordOptions(options)
        var configuration = HostConfiguration()
        configuration.recording = recording.path.map { HostRecording(path: $0, limit: recording.limit) }
        configuration.room = try options.required("room", as: .roomName)
        configuration.isOpenToNetwork = options.has("lan")
        configuration.listen = try sockets.isEmpty ? listenAddresses(options) : checkReach(of: sockets, options)
        configuration.mediaAddress = try mediaAddress(options, listen: configuration.listen)
        configuration.mayUseOtherMediaPort = options.values("udp-port").isEmpty
        configuration.advertised = try AdvertiseOption.addresses(options)
        configuration.hostNames = try AdvertiseOption.hostNames(options)
        configuration.allowedOrigins = try options.values("allow-origin", as: .origin)
        configuration.embeddingOrigins = try options.values("embed-in", as: .embeddingOrigin)
        configuration.trustedProxies = try options.values("trusted-proxy", as: .addressRange)
        configuration.certificate = try AccessOptions.certificate(options)
        configuration.lifetime = try options.value("expires", as: .lifetime)
        configuration.password = try AccessOptions.password(options)
        configuration.hasWaitingRoom = options.has("waiting-room")
        configuration.alsoOtherJoined = options.has("other-joined")
        configuration.pairRooms = options.has("pair-rooms")
        configuration.iceServers = try ICEOptions.servers(options)
        configuration.camera = try options.required("camera", as: .cameraFormat)
        configuration.administration = try administration(options, listen: configuration.listen)
        (configuration.token, configuration.tokenFile) = try token(options, configuration)
        (configuration.presentingToken, configuration.presentingTokenFile) =
            try AccessOptions.presentingToken(options, configuration)
        // There always is such a token, but without --presenters no one is given it.
        configuration.acceptsTurnRequests = options.has("presenters")
        return configuration
    }

    /// A room in addition to the first, with its own token, which is kept like the first room's unless rooms are open.
    static func furtherRoom(
        _ name: String, _ options: ParsedOptions, _ configuration: HostConfiguration
    ) -> HostRoom {
        var room = HostRoom(name: name, token: nil)
        let file = TokenFile(room: name, of: configuration)
        (room.presentingToken, room.presentingTokenFile) = AccessOptions.presentingToken(
            beside: file, options, configuration)
        if !options.has("open") {
            (room.token, room.tokenFile) = keptToken(in: file, "the invite links are", options, configuration)
        }
        return room
    }

    /// The token of earlier links, or a new one, and the file that keeps it. There is none for an open room.
    private static func token(
        _ options: ParsedOptions, _ configuration: HostConfiguration
    ) throws(UsageError) -> (String?, TokenFile?) {
        let named = try options.value("token-file", as: .text)
        if options.has("open") {
            let idle = named != nil ? "--token-file" : options.has("new-token") ? "--new-token" : nil
            if let idle { throw UsageError("\(idle) and --open can't go together: an open room has no token") }
            return (nil, nil)
        }
        if let named { return try token(in: named, of: "--token-file", options) }
        let file = TokenFile(room: configuration.room, of: configuration)
        return keptToken(in: file, "the invite links are", options, configuration)
    }

    /// The token in a file that `option` names, or a new one that is written there, and the file.
    static func token(
        in path: String, of option: String, _ options: ParsedOptions
    ) throws(UsageError) -> (String?, TokenFile?) {
        do throws(TokenFileError) {
            let file = TokenFile(path: path)
            return (try file.token(namedBy: option, isNew: options.has("new-token")), file)
        } catch {
            throw error.problem(of: option, path)
        }
    }

    /// The token in a file that the user didn't name, and the file. If it can't be kept, as if there were no home, a
    /// new one for this run only, and a message that `what` valid for this run only.
    static func keptToken(
        in file: TokenFile?, _ what: String, _ options: ParsedOptions, _ configuration: HostConfiguration
    ) -> (String?, TokenFile?) {
        // A link that expires with this run must not become valid again in the next.
        guard let file, configuration.lifetime == nil else { return (HostConfiguration.randomToken(), nil) }
        do throws(TokenFileError) {
            return (try file.token(isNew: options.has("new-token"), makesFolders: true), file)
        } catch {
            StandardStreams.printError("\(error); \(what) valid for this run only", program: Program.name)
            return (HostConfiguration.randomToken(), nil)
        }
    }

    static func listenAddresses(
        _ options: ParsedOptions
    ) throws(UsageError) -> [ListenAddress] {
        let wanted = try options.required("listen", as: .listenAddress)
        let wasGiven = !options.values("listen").isEmpty
        guard options.has("lan") else {
            guard wanted.host == nil || wanted.isLoopback else {
                throw UsageError("--listen \(wanted): other machines can reach that address; add --lan if they may")
            }
            return [ListenAddress(address: wanted.host ?? "127.0.0.1", port: wanted.port)]
        }
        guard !wasGiven || !wanted.isLoopback else {
            let instead = options.place(of: "lan").map { "write --lan=false (\($0) is true)" } ?? "leave --lan out"
            throw UsageError(
                "--listen \(wanted): only this machine can reach that address; \(instead), or give only a port")
        }
        if wasGiven, let host = wanted.host { return [ListenAddress(address: host, port: wanted.port)] }
        // One socket for both families if the kernel has IPv6.
        let all = hasIPv6 ? "::" : "0.0.0.0"
        return [ListenAddress(address: all, port: wanted.port)]
    }

    /// The addresses of sockets that were passed on. Unlike with `--listen`, they may be only for this machine with
    /// `--lan`: a reverse proxy here can then serve the page, and viewers get media directly.
    private static func checkReach(
        of sockets: [ListenAddress], _ options: ParsedOptions
    ) throws(UsageError) -> [ListenAddress] {
        if let open = sockets.first(where: { !$0.isLoopback }), !options.has("lan") {
            throw UsageError(
                "LISTEN_FDNAMES: http: other machines can reach the socket at \(open); add --lan if they may")
        }
        return sockets
    }

    /// The address for media: the address that `--listen` names, else all addresses; without `--lan`, the loopback
    /// address of its family.
    static func mediaAddress(
        _ options: ParsedOptions, listen: [ListenAddress]
    ) throws(UsageError) -> TransportAddress {
        let port = try options.required("udp-port", as: .port)
        guard options.has("lan") else {
            let isIPv6 = listen.first?.address.contains(":") == true
            let loopback = isIPv6 ? TransportAddress(bytes: [UInt8](repeating: 0, count: 15) + [1], port: port) : nil
            return loopback ?? TransportAddress(ipv4: 127, 0, 0, 1, port: port)
        }
        if let host = listen.first(where: { !$0.isLoopback })?.address,
            let given = try? ValueFormat.ipAddress.read(host, option: "--listen"),
            given.bytes.contains(where: { $0 != 0 }),
            let address = TransportAddress(bytes: given.bytes, port: port)
        {
            return address
        }
        let wildcard = hasIPv6 ? TransportAddress(bytes: [UInt8](repeating: 0, count: 16), port: port) : nil
        return wildcard ?? TransportAddress(ipv4: 0, 0, 0, 0, port: port)
    }

    private static var hasIPv6: Bool { access("/proc/self/net/if_inet6", F_OK) == 0 }

    /// Ends the host: first its viewers, then its recordings. Returns the exit code, which changes if the end of a
    /// recording could not be written.
    static func end(_ host: ScreenRelayHost, with code: Int32, _ news: SharingNews) -> Int32 {
        news.ending()
        host.stop()
        var code = code
        // Other failures were reported when they happened, and sharing continued.
        for failure in host.recordings.compactMap(\.failure) {
            guard case .stalled = failure else { continue }
            let failed = Program.fail("--record: \(failure)", ExitCode(failure.kind))
            if code == ExitCode.success.rawValue { code = failed }
        }
        news.ended(code)
        return code
    }

    /// Who can reach the host, for the line that says what is shared. Empty if other machines can.
    static func audience(_ options: ParsedOptions) -> String {
        options.has("lan") || options.has("advertise") ? "" : ", for this machine only (--lan lets others in)"
    }

    /// The lines about the network that are printed below the links.
    static func networkLines(of host: ScreenRelayHost, _ options: ParsedOptions) -> [String] {
        guard options.has("lan") else { return [] }
        let addresses = host.reachableAddresses
        // A user who has opened the usual port in a firewall has to know.
        let port = host.usesOtherMediaPort ? ["The usual UDP port is in use: viewers use port \(host.mediaPort)."] : []
        // A socket that was passed on for this machine alone, of which a warning tells.
        if host.addresses.allSatisfy(\.isLoopback) { return port }
        if addresses.isEmpty {
            return [
                "This machine is on no network: no other machine can open the invite link. Connect it, then try again."
            ]
        }
        var lines = port
        if !options.has("tls"), !options.has("tls-cert") {
            lines.append("The invite link uses HTTP, which isn't encrypted (--tls self-signed); video and sound are.")
        }
        if addresses.count == 1 { return lines }
        return lines + [
            "This machine's other addresses, if that one doesn't work: " + addresses.dropFirst().joined(separator: ", ")
        ]
    }

    /// A log at this level.
    static func log(_ options: ParsedOptions, level: EventLog.Level) -> EventLog {
        let log = EventLog.standardError(program: Program.name, level: level)
        if let address = options.value("advertise"), !options.has("lan") {
            log.warning(
                "--advertise \(address): without --lan, only a program on this machine can forward viewers to us")
        }
        if options.has("lan"), options.has("open") {
            log.warning(
                "--open --lan: anyone on the network can watch; without --open, only people with the invite link")
        }
        return log
    }
}

extension HostError {
    /// The exit code of a host that could not start.
    var exitCode: ExitCode {
        switch self {
        case .signalling(.notAnAddress), .signalling(.notOurs): .usage
        case .signalling(.notPermitted), .mediaNotPermitted: .permission
        case .signalling(.certificate): .badData
        case .signalling: .unavailable
        case .media: .unavailable
        case .link(let error): ExitCode(error.kind)
        case .recording(let error): ExitCode(error.kind)
        case .track: .usage
        case .system: .system
        }
    }
}

extension ValueFormat where Value == TransportAddress {
    /// A numeric IPv4 or IPv6 address without a port.
    static var ipAddress: ValueFormat<TransportAddress> {
        ValueFormat(orProblem: "not an IP address; write it like 203.0.113.7 or 2001:db8::7") { text in
            var four = in_addr()
            var six = in6_addr()
            var bytes: [UInt8] = []
            if inet_pton(AF_INET, text, &four) == 1 {
                bytes = withUnsafeBytes(of: four) { Array($0) }
            } else if inet_pton(AF_INET6, text, &six) == 1 {
                bytes = withUnsafeBytes(of: six) { Array($0) }
            }
            return TransportAddress(bytes: bytes, port: 0)
        }
    }
}

extension ValueFormat where Value == String {
    /// `https://example.org` or `http://example.org:8000`: a scheme and a host, without a path.
    static var origin: ValueFormat<String> {
        ValueFormat(orProblem: "not an origin; write it like https://example.org, without a path") { text in
            let rest = ["https://", "http://"].first { text.hasPrefix($0) }.map { text.dropFirst($0.count) }
            guard let rest, !rest.isEmpty, !rest.contains("/"), !rest.contains(" ") else { return nil }
            return text
        }
    }

    /// The origin of pages that may show the host's page.
    static var embeddingOrigin: ValueFormat<String> {
        ValueFormat(
            orProblem: "not an origin, or one with an IPv6 address; write it like https://example.org, without a path"
        ) { text in
            SignallingConfiguration.isEmbeddingOrigin(text) ? text : nil
        }
    }
}

extension ValueFormat where Value == CameraFormat {
    /// `1280x720@30`: the size and the frame rate of a camera.
    fileprivate static var cameraFormat: ValueFormat<CameraFormat> {
        ValueFormat(
            orProblem: "not a size and a frame rate; write them like 1280x720@30, with sides from 16 to 4096 and 1 to "
                + "60 fps"
        ) { CameraFormat($0) }
    }
}
