import Processes
import TestSupport
import Testing

/// `share` or `host`, and what feeds it with frames that change and a tone.
final class FedProgram: WaysHost {
    let host: RunningProgram
    let link: String
    /// What has to be kept while the host runs.
    let feeders: [Any]

    private static let hertz = "440"

    /// Starts it with `options`. A replay plays what `recordings` has of a run with `--source file:`.
    init(
        _ way: WayIn, _ options: [String], _ variation: WaysRun.Variation, in folder: TemporaryFolder,
        recordings: TemporaryFolder
    ) throws {
        let address = "unix:" + folder.file("s.sock")
        func start(_ more: [String] = []) throws -> RunningProgram {
            let places = ["--link", address, "--listen", variation.address + ":0", "--udp-port", "0"]
            return try RunningProgram("screenrelay", ["host"] + places + options + more)
        }
        switch way {
        case .capture:
            let pulse = try PulseServer(in: folder)
            let desktop = try SharedDesktop(
                options: options + ["--sound", "desktop"], prefix: ["env", "PULSE_SERVER=\(pulse.address)"])
            feeders = try [pulse, desktop, pulse.playTone()]
            host = desktop.host
            link = desktop.link
        case .whip:
            host = try start(["--presenters"])
            link = try host.printedLink()
            let endpoint = LinkParts(link).base + "/whip/screen"
            let client = try PythonClient(
                "whip_publisher", in: .rtc, [endpoint, try host.presentersToken(), "--tone", Self.hertz])
            try client.event("connected")
            feeders = [client]
        case .replay:
            host = try start()
            link = try host.printedLink()
            let input = recordings.file("\(WayIn.file).srr")
            feeders = [try RunningProgram("screenrelay", ["replay", "--link", address, "--loop", input])]
        case .rtsp, .rtmp, .srt, .file, .custom:
            let (url, server) = try Self.source(way, makesKeyFrames: variation.makesKeyFrames, in: folder)
            feeders = server.map { [$0] } ?? []
            host = try start(["--source", url])
            link = try host.printedLink()
        }
    }

    var log: String { String(host.log.suffix(2000)) }

    var rtsp: String {
        get throws {
            let begin = "Players of RTSP: "
            let line = try #require(host.output.split(separator: "\n").first { $0.hasPrefix(begin) })
            return String(line.dropFirst(begin.count))
        }
    }

    func end() throws {
        let status = host.stop()
        if status != .exited(0) { throw ProgramEnded(status: status ?? .signaled(9), log: log) }
    }

    /// Starts a server that sends a moving picture and the tone, or makes a file of them; returns its URL.
    private static func source(
        _ way: WayIn, makesKeyFrames: Bool, in folder: TemporaryFolder
    ) throws -> (String, Any?) {
        let port = try freePort()
        if way == .rtsp {
            let server = try RTSPToneServer(port: port)
            return (server.url, server)
        }
        let media = [
            "-f", "lavfi", "-i", "testsrc=size=320x240:rate=25", "-f", "lavfi", "-i",
            "sine=\(hertz):sample_rate=48000", "-t", "60", "-af", "volume=6", "-c:v", "libx264", "-bf", "0", "-g",
            makesKeyFrames ? "25" : "100000", "-sc_threshold", "0", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
        ]
        if way == .file {
            let path = folder.file("source.mkv")
            // What comes in the first three seconds is more than a hub keeps for viewers who come later.
            let noise = ["-vf", "noise=alls=60:allf=t:enable='lt(t,3)'"]
            let made = try FFmpeg.run(media + (makesKeyFrames ? [] : noise) + ["-c:a", "libopus", path])
            try #require(made.status == .exited(0), "\(made.messages)")
            return ("file:" + path, nil)
        }
        let url = way == .rtmp ? "rtmp://127.0.0.1:\(port)/live/key" : "srt://127.0.0.1:\(port)"
        let output = way == .rtmp ? ["-f", "flv", "-listen", "1", url] : ["-f", "mpegts", url + "?mode=listener"]
        // `-re` holds for the input that follows it.
        let paced = ["-hide_banner", "-nostdin", "-v", "error", "-re"] + media.prefix(4) + ["-re"] + media.dropFirst(4)
        var launch = Launch("ffmpeg", paced + ["-c:a", "aac"] + output)
        launch.standardError = .text(limit: 1 << 16)
        return (url, try ChildProcess(launch))
    }
}
