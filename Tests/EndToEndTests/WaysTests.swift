import AudioCoding
import BrowserDriver
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// Every way in feeds every way out at once; each is looked at and listened to.
    @Suite(
        "Ways in and out",
        .enabled(
            if: EndToEnd.hasBrowser && PythonClient.isAvailable && FFmpeg.isAvailable && PulseServer.isAvailable
                && RTSPToneServer.isAvailable))
    struct WaysTests {
        @Test("each way in reaches each way out, as the document's table has it", .timeLimit(.minutes(5)))
        func matrix() throws {
            let browser = try Browser.launch()
            let folder = try TemporaryFolder()
            var rows: [String] = []
            var (tested, silent, failing) = (0, 0, 0)
            for way in WayIn.allCases {
                let begin = now()
                let cells = try WaysRun(way, recordings: folder, in: browser).cells
                rows.append(Self.row([way.rawValue] + cells))
                tested += cells.count
                silent += cells.count { $0 == "frames" }
                failing += cells.count { $0 == WaysRun.failing }
                print("\(way.rawValue): \((now() - begin).milliseconds) ms")
            }
            let table = [Self.row(["way in"] + WayOut.allCases.map(\.rawValue))] + rows
            print(table.joined(separator: "\n"))
            let document = String(decoding: try fileBytes(packageRoot + "/Documentation/peers.md"), as: UTF8.self)
            let lines = document.split(separator: "\n").map(String.init)
            let section = lines.drop { $0 != "## Ways in and out" }.filter {
                $0.hasPrefix("| ") && !$0.hasPrefix("| --")
            }
            print("ways: tested \(tested), of them without audio \(silent), failing \(failing)")
            #expect(failing == 0)
            #expect(section == table)
        }

        private static func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
    }
}

/// How frames and audio come into a host; the raw value is the row's name in the table.
enum WayIn: String, CaseIterable {
    case capture
    case whip = "WHIP publisher"
    case rtsp = "`--source rtsp:`"
    case rtmp = "`--source rtmp:`"
    case srt = "`--source srt:`"
    case file = "`--source file:`"
    /// Of what ``file`` has recorded.
    case replay = "`replay`"
}

/// How they go out; the raw value is the column's name.
enum WayOut: String, CaseIterable {
    case page
    case whep = "WHEP"
    case webSocket = "WebSocket"
    case rtsp = "RTSP"
    case snapshot
    case rtmp = "RTMP push"
    case srt = "SRT push"
    case hls = "HLS push"
    case file = "file push"
    case recording
}

/// One host that is fed in one way, and whose ways out are all in use at once.
private final class WaysRun {
    static let failing = "failing"
    static let hertz = 440

    /// What was seen and heard at each way out, in the order of ``WayOut``.
    private(set) var cells: [String] = []

    private let folder: TemporaryFolder
    private let recording: String
    private let rtmp: MediaReceiver
    private let srt: MediaReceiver
    /// What feeds the host; it is kept while this object lives.
    private var feeders: [Any] = []
    private let host: RunningProgram
    private let link: String

    /// Runs it. `recordings` is where recordings are kept from one run to the next.
    init(_ way: WayIn, recordings: TemporaryFolder, in browser: Browser) throws {
        folder = try TemporaryFolder()
        recording = recordings.file("\(way).srr")
        rtmp = try MediaReceiver(.rtmp, port: freePort(), in: folder)
        srt = try MediaReceiver(.srt, port: freePort(), in: folder)
        let options = [
            "--rtsp", "0", "--record", recording, "--push", rtmp.url, "--push", srt.url, "--push",
            "file:" + folder.file("pushed.mkv"), "--push", "file:" + folder.file("room.m3u8"), "--presenters",
        ]
        let address = "unix:" + folder.file("s.sock")
        switch way {
        case .capture:
            let pulse = try PulseServer(in: folder)
            let desktop = try SharedDesktop(
                options: options + ["--sound", "desktop"], prefix: ["env", "PULSE_SERVER=\(pulse.address)"])
            feeders = try [pulse, desktop, pulse.playTone()]
            (host, link) = (desktop.host, desktop.link)
        case .whip, .replay:
            host = try RunningProgram.host(address, options)
            link = try host.printedLink()
            if way == .whip {
                let (base, _, _) = Self.parts(of: link)
                let client = try PythonClient(
                    "whip_publisher", in: .rtc,
                    ["\(base)/whip/screen", try host.presentersToken(), "--tone", "\(Self.hertz)"])
                try client.event("connected")
                feeders = [client]
            } else {
                let input = recordings.file("\(WayIn.file).srr")
                feeders = [
                    try RunningProgram("screenrelay", ["replay", "--link", address, "--loop", input])
                ]
            }
        case .rtsp, .rtmp, .srt, .file:
            let (url, server) = try Self.source(way, in: folder)
            if let server { feeders = [server] }
            host = try RunningProgram.host(address, options + ["--source", url])
            link = try host.printedLink()
        }
        try look(in: browser)
    }

    /// Starts a server that sends a moving picture and the tone, or makes a file of them; returns its URL.
    private static func source(_ way: WayIn, in folder: TemporaryFolder) throws -> (String, Any?) {
        let port = try freePort()
        if way == .rtsp {
            let server = try RTSPToneServer(port: port)
            return (server.url, server)
        }
        let media = [
            "-f", "lavfi", "-i", "testsrc=size=320x240:rate=25", "-f", "lavfi", "-i",
            "sine=\(Self.hertz):sample_rate=48000", "-t", "60", "-af", "volume=6", "-c:v", "libx264", "-bf", "0", "-g",
            "25", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
        ]
        if way == .file {
            let path = folder.file("source.mkv")
            let made = try FFmpeg.run(media + ["-c:a", "libopus", path])
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

    /// `http://HOST:PORT`, the room, and the token of a link.
    private static func parts(of link: String) -> (base: String, room: String, token: String) {
        let halves = link.split(separator: "#", maxSplits: 1)
        let names = (halves.last ?? "").split(separator: ",", maxSplits: 1)
        return (String(halves[0].dropLast()), String(names.first ?? ""), String(names.last ?? ""))
    }

    private func look(in browser: Browser) throws {
        let (base, room, token) = Self.parts(of: link)
        let (heard, seen) = (folder.file("whep.pcm"), folder.file("socket.h264"))
        let player = try PythonClient(
            "whep_player", in: .rtc, ["\(base)/whep/\(room)", "--token", token, "--sound", heard])
        let socket = try PythonClient(
            "frames_client", in: .rtc, ["ws" + base.dropFirst(4) + "/ws", "\(room),\(token)", seen])
        var found: [WayOut: String] = [:]
        func check(_ way: WayOut, _ what: String = "frames, audio", _ body: () throws -> Void) {
            do {
                try body()
                found[way] = what
            } catch {
                Issue.record("\(way.rawValue): \(error); the host's log: \(host.log.suffix(2000))")
                found[way] = Self.failing
            }
        }
        check(.page) { try page(in: browser) }
        check(.whep) {
            try player.event("frame") { ($0["number"] as? Int ?? 0) >= 20 }
            let levels = player.events.compactMap { $0["luma"] as? Double }
            try eventually("the tone") { Self.hasTone(Self.left(of: try fileBytes(heard))) }
            try need(Set(levels).count >= 5, "frames that change, not \(levels)")
        }
        check(.webSocket) {
            try socket.event("begun")
            try socket.tell("sound")
            try socket.event("picture") { ($0["number"] as? Int ?? 0) >= 20 }
            try socket.event("sound") { ($0["number"] as? Int ?? 0) >= 100 }
            let decoder = try OpusDecoder(channelCount: 2)
            var samples: [Float] = []
            for event in socket.events {
                guard let text = event["packet"] as? String else { continue }
                let decoded = try decoder.decode(Self.bytes(hexadecimal: text)[...])
                samples += stride(from: 0, to: decoded.count, by: 2).map { decoded[$0] }
            }
            try need(Self.hasTone(samples), "the tone in \(samples.count) samples")
            try expectMotion(in: seen, input: ["-f", "h264"])
        }
        check(.rtsp) {
            let begin = "Players of RTSP: "
            let line = try #require(host.output.split(separator: "\n").first { $0.hasPrefix(begin) })
            let file = folder.file("rtsp.mkv")
            let copied = try FFmpeg.run(
                ["-rtsp_transport", "tcp", "-i", String(line.dropFirst(begin.count)), "-map", "0", "-c", "copy"]
                    + ["-t", "2", file])
            try need(copied.status == .exited(0), copied.messages)
            try expectBoth(in: file)
        }
        check(.snapshot, "frames") {
            let first = try LinkSnapshot(of: link).picture.bytes
            try eventually("another frame") { try LinkSnapshot(of: link).picture.bytes != first }
        }
        try need(host.stop() == .exited(0), "the host's end: \(host.log.suffix(2000))")
        for (way, receiver) in [(WayOut.rtmp, rtmp), (.srt, srt)] {
            check(way) {
                try eventually("the receiver's end") { receiver.process.poll() != nil }
                try expectBoth(in: receiver.file)
            }
        }
        check(.hls) { try expectBoth(in: folder.file("room.m3u8")) }
        check(.file) { try expectBoth(in: folder.file("pushed.mkv")) }
        check(.recording) {
            let file = folder.file("exported.mkv")
            let export = try CommandLineRun(["screenrelay", "export", recording, "-o", file])
            try need(export.status == .exited(0), export.errorOutput)
            try expectBoth(in: file)
        }
        cells = WayOut.allCases.map { found[$0] ?? Self.failing }
    }

    private func page(in browser: Browser) throws {
        let viewer = try ViewerPage(link, in: browser)
        defer { try? viewer.page.navigate("about:blank") }
        try viewer.waitUntilPlaying()
        let first = try eventually("a picture") { try viewer.picture(columns: 320) }
        try eventually("another picture") { try viewer.picture(columns: 320).map { $0.bytes != first.bytes } == true }
        try viewer.page.evaluate(EndToEndBesideBrowser.WHIPSoundTests.loudest)
        try viewer.page.waitUntil("document.getElementById('listen')?.checkVisibility()")
        try viewer.page.evaluate("document.getElementById('listen').click()")
        try viewer.page.waitUntil("screenRelay.isListening && screenRelay.audioLevel > 0.01")
        try eventually("the tone on the page") {
            let loudest = try viewer.page.evaluate("window.loudest()", within: .seconds(10))
            return abs((loudest["hertz"].number ?? 0) - Double(Self.hertz)) < 3 && loudest["level"].number ?? -100 > -40
        }
    }

    // MARK: - Looking and listening

    private func need(_ condition: Bool, _ what: String) throws {
        if !condition { throw DeadlineMissed(what: what) }
    }

    /// Expects frames that change and the tone in a file.
    private func expectBoth(in file: String) throws {
        try expectMotion(in: file)
        let sound = try FFmpeg.run(["-i", file, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-f", "f32le", "pipe:1"])
        let samples = sound.bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        try need(Self.hasTone(samples), "the tone in \(samples.count) samples of \(file): \(sound.messages)")
    }

    private func expectMotion(in file: String, input: [String] = []) throws {
        let run = try FFmpeg.run(
            input + ["-i", file, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "pipe:1"])
        let lines = String(decoding: run.bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        let count = Set(lines.compactMap { $0.split(separator: ",").last }).count
        try need(count >= 10, "10 different frames, not \(count), in \(file): \(run.messages)")
    }

    /// Whether half a second of `samples` is the tone and hardly anything else, each tenth by itself: while the place
    /// of the audio is corrected, its pitch isn't quite the same.
    private static func hasTone(_ samples: [Float]) -> Bool {
        var inARow = 0
        for start in stride(from: 0, through: samples.count - 4800, by: 4800) {
            let fit = ToneFit(Double(hertz), in: Array(samples[start..<start + 4800]))
            inARow = fit.amplitude > 0.05 && fit.signalToNoise > 15 ? inARow + 1 : 0
            if inARow >= 5 { return true }
        }
        return false
    }

    /// The left channel of signed samples of 16 bits.
    private static func left(of bytes: [UInt8]) -> [Float] {
        bytes.withUnsafeBytes { raw in
            stride(from: 0, to: raw.count / 4 * 4, by: 4).map {
                Float(raw.loadUnaligned(fromByteOffset: $0, as: Int16.self)) / 32768
            }
        }
    }

    private static func bytes(hexadecimal text: String) -> [UInt8] {
        let digits = Array(text.utf8).map { UInt8($0 < 58 ? $0 - 48 : $0 - 87) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
