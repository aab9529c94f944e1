import BrowserDriver
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

/// One host that is fed in one way, and whose ways out are all in use at once.
final class WaysRun {
    /// What can go differently from the plain case.
    struct Variation {
        /// The ways out that are used.
        var outs = WayOut.allCases
        /// More options for the host.
        var options: [String] = []
        /// For how many seconds RTSP players read; nil for until the end.
        var playTime: Int? = 2
        /// The host's own address, and that of all servers.
        var address = "127.0.0.1"
        /// The file with the certificate that the host shows, which snapshots trust.
        var certificate: String?
        /// Whether a source makes a key frame now and then, and not only at its beginning.
        var makesKeyFrames = true
    }

    let host: any WaysHost
    /// The program that shares or serves; nil for a library application.
    let program: RunningProgram?
    let variation: Variation
    /// Why a way out can't be judged.
    private(set) var failures: [WayOut: String] = [:]
    private(set) var page: WitnessPage?
    private(set) var clients: [WayOut: [PythonClient]] = [:]

    /// When the host was started, in seconds of CLOCK_MONOTONIC.
    let begin = Double(now().nanoseconds) / 1e9
    let folder: TemporaryFolder
    private let peers: WaysPeers?
    /// What feeds the host; it is kept while this object lives.
    private let feeders: [Any]
    private let recording: String
    /// The files of those ways out that end in one, once the host has ended.
    private(set) var files: [WayOut: String] = [:]
    private var receivers: [WayOut: MediaReceiver] = [:]
    private var players: [WayOut: [ChildProcess]] = [:]

    /// Starts the host and what it sends to. `recordings` is where recordings are kept from one run to the next.
    init(
        _ way: WayIn, _ variation: Variation = Variation(), peers: WaysPeers?, recordings: TemporaryFolder
    ) throws {
        self.variation = variation
        self.peers = peers
        folder = try TemporaryFolder()
        recording = recordings.file("\(way)\(variation.options.isEmpty ? "" : "-\(now().nanoseconds)").srr")
        var pushes: [String] = []
        for (way, transport) in [(WayOut.rtmp, MediaReceiver.Transport.rtmp), (.srt, .srt)] {
            let receiver = try MediaReceiver(
                transport, port: freePort(), in: folder, host: variation.address,
                passphrase: transport == .srt && variation.certificate != nil ? "0123456789abcdef" : nil)
            receivers[way] = receiver
            pushes.append(receiver.url)
        }
        pushes += ["file:" + folder.file("pushed.mkv"), "file:" + folder.file("room.m3u8")] + (peers?.pushes ?? [])
        if way == .custom {
            host = try LibraryHost(pushes: pushes, joins: peers?.joins ?? [], recording: recording)
            program = nil
            feeders = []
        } else {
            let options =
                ["--rtsp", "0", "--record", recording] + pushes.flatMap { ["--push", $0] }
                + (peers?.joins ?? []).flatMap { ["--join", $0] } + variation.options
            let fed = try FedProgram(way, options, variation, in: folder, recordings: recordings)
            host = fed
            program = fed.host
            feeders = fed.feeders
        }
    }

    /// Begins to watch by all ways in which one asks the host for it.
    func watch(in browser: Browser) throws {
        for way in [WayOut.whep, .webSocket] { try startClient(way) }
        attempt(.page) { page = try WitnessPage(host.link, in: browser) }
        // Players of RTSP get the audio that there is when they ask.
        for way in [WayOut.rtsp, .pcmu] { try startPlayer(way) }
    }

    /// Starts a client that watches by WHEP or over the WebSocket, the first track or another one, whose tone has so
    /// many hertz.
    func startClient(_ way: WayOut, track: (name: String, hertz: Int)? = nil) throws {
        let link = LinkParts(host.link)
        var environment = [
            "WITNESS": report(way) + (track?.name ?? ""), "LOOPBACK": variation.address.filter { !"[]".contains($0) },
        ]
        if let track { (environment["TRACK"], environment["HERTZ"]) = (track.name, "\(track.hertz)") }
        if way == .whep {
            let query = track.map { "?track=\($0.name)" } ?? ""
            let words = ["\(link.base)/whep/\(link.room)\(query)", "--token", link.token]
            let client = try PythonClient(
                "whep_player", in: .rtc, words + (variation.certificate == nil ? [] : ["--insecure"]),
                environment: environment)
            clients[way, default: []].append(client)
        } else {
            let client = try PythonClient(
                "frames_client", in: .rtc, ["ws" + link.base.dropFirst(4) + "/ws", "\(link.room),\(link.token)"],
                environment: environment)
            clients[way, default: []].append(client)
        }
    }

    /// Starts an RTSP player, which gets the audio that there is now.
    func startPlayer(_ way: WayOut, track: String = "") throws {
        let url = try host.rtsp + (track.isEmpty ? "" : "/" + track) + (way == .pcmu ? "?audio=pcmu" : "")
        try startPlayer(of: ["-rtsp_transport", "tcp", "-i", url], way, track: track)
    }

    /// Starts an HLS player, which keeps what the playlist forgets.
    func startHLSPlayer() throws {
        let list = folder.file("room.m3u8")
        try eventually("the playlist") { (try? fileBytes(list)) != nil }
        try startPlayer(of: ["-live_start_index", "0", "-i", list], .hls)
    }

    private func startPlayer(of input: [String], _ way: WayOut, track: String = "") throws {
        var launch = Launch(
            "ffmpeg",
            ["-hide_banner", "-nostdin", "-v", "error"] + input + ["-map", "0", "-c", "copy"]
                + (variation.playTime.map { ["-t", "\($0)"] } ?? []) + [played(way, track: track)])
        launch.standardError = .text(limit: 1 << 16)
        players[way, default: []].append(try ChildProcess(launch))
    }

    /// The file that a player writes.
    func played(_ way: WayOut, track: String = "") -> String { folder.file("\(way)\(track).mkv") }

    /// Whether all RTSP players of this way have ended.
    func hasEnded(_ way: WayOut) -> Bool { players[way]?.allSatisfy { $0.poll() != nil } ?? true }

    /// Does `body`, whose error is the way's failure.
    func attempt(_ way: WayOut, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            failures[way] = failures[way] ?? "\(error)"
        }
    }

    /// What was seen and heard by now, since `time` in seconds of CLOCK_MONOTONIC, at a way out that is looked at live.
    func observation(of way: WayOut, since time: Double? = nil, track: String = "") -> Observation {
        let text = (try? fileBytes(report(way) + track)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return Observation(report: text, since: time ?? begin)
    }

    /// The ways out that are looked at while the host runs, but for the page.
    var live: [WayOut] { variation.outs.filter(\.isLive) }

    /// Waits until each live way out has shown frames that change and the tone, and the players of RTSP have ended.
    func waitForAll() {
        for way in live {
            attempt(way) {
                try eventually("frames and the tone") {
                    let seen = observation(of: way)
                    return seen.isMoving && seen.hasTone
                }
            }
        }
        guard variation.playTime != nil else { return }
        for way in players.keys { attempt(way) { try eventually("the player's end") { hasEnded(way) } } }
    }

    /// The size of the file that is pushed to.
    var pushedBytes: Int { (try? fileBytes(folder.file("pushed.mkv")))?.count ?? 0 }

    /// Expects two snapshots that differ.
    func takeSnapshots() {
        let environment = variation.certificate.map { ["SSL_CERT_FILE": $0] } ?? [:]
        attempt(.snapshot) {
            let first = try LinkSnapshot(of: host.link, environment: environment).picture.bytes
            try eventually("another frame") {
                try LinkSnapshot(of: host.link, environment: environment).picture.bytes != first
            }
        }
    }

    /// Ends the host, and returns what was seen and heard at all ways out but the snapshot.
    func end() throws -> [WayOut: Observation] {
        var found: [WayOut: Observation] = [:]
        if let page { attempt(.page) { found[.page] = try page.observation() } }
        for way in live { found[way] = observation(of: way) }
        try page?.close()
        try host.end()
        files = [
            .hls: folder.file("room.m3u8"), .file: folder.file("pushed.mkv"), .recording: folder.file("exported.mkv"),
        ]
        for (way, receiver) in receivers {
            attempt(way) { _ = try eventually("the receiver's end") { receiver.process.poll() } }
            files[way] = receiver.file
        }
        for way in players.keys {
            attempt(way) { try eventually("the player's end") { hasEnded(way) } }
            files[way] = played(way)
        }
        attempt(.recording) {
            let export = try CommandLineRun(["screenrelay", "export", recording, "-o", folder.file("exported.mkv")])
            if export.status != .exited(0) { throw DeadlineMissed(what: export.errorOutput) }
        }
        let decoded = try files.filter { variation.outs.contains($0.key) }.map { way, file in
            (way, try DecodedFile(file, in: folder))
        }
        for (way, file) in decoded { found[way] = try file.observation() }
        return found
    }

    private func report(_ way: WayOut) -> String {
        switch way {
        case .whipPush, .janus, .skyRTC, .socketIO: peers?.report(way) ?? ""
        default: folder.file("\(way)")
        }
    }
}

/// What a link consists of.
struct LinkParts {
    /// `http://HOST:PORT`.
    let base: String
    let room: String
    let token: String

    init(_ link: String) {
        let halves = link.split(separator: "#", maxSplits: 1)
        let names = (halves.last ?? "").split(separator: ",", maxSplits: 1)
        base = String(halves[0].dropLast())
        room = String(names.first ?? "")
        token = names.count > 1 ? String(names[1]) : ""
    }
}
