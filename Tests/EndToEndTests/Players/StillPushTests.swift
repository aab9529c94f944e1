import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Players of a push of a still screen", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct StillPushes {
        /// Runs mpv until it has shown a picture.
        private func show(_ url: String, within limit: Interval) throws {
            try #require(ProgramLookup.path(of: "mpv") != nil, "mpv is missing; see Tools/setup")
            var launch = Launch("mpv", ["--no-config", "--vo=null", "--ao=null", "--frames=1", url])
            (launch.standardOutput, launch.standardError) = (.text(limit: 1 << 16), .text(limit: 1 << 16))
            let player = try ChildProcess(launch)
            defer { player.stop(within: .zero) }
            try eventually("a picture of \(url)", within: limit) { player.poll() != nil }
            #expect(player.poll() == .exited(0), "\(player.output?.text ?? "") \(player.errorOutput?.text ?? "")")
        }

        // Less than 3 s on a machine that has nothing else to do. With a picture in 2.5 s, players took at least 10 s.

        @Test("an SRT receiver shows it within seconds")
        func receiver() throws {
            let url = "srt://127.0.0.1:\(try freePort())"
            let desktop = try SharedDesktop(scene: ["--still"], options: ["--push", url + "?mode=listener"])
            try desktop.host.waitForLog("pictures of")
            try show(url, within: .seconds(6))
        }

        @Test(
            "a player that comes later to an RTMP server shows it after the next key frame, though nothing is heard",
            .enabled(if: NginxServer.isAvailable))
        func late() throws {
            let folder = try TemporaryFolder()
            let server = try NginxServer(port: try freePort(), in: folder)
            let desktop = try SharedDesktop(scene: ["--still"], options: ["--push", server.url])
            try eventually("it is connected") { desktop.host.output.contains("is connected") }
            // The first pictures of a connection come closer together.
            try eventually("some recording", within: .seconds(90)) {
                let words = ["-v", "error", "-of", "csv=p=0", "-show_entries", "packet=pts_time", server.recording]
                var probe = Launch("ffprobe", words)
                probe.standardOutput = .text(limit: 1 << 20)
                probe.standardError = .text(limit: 1 << 16)
                let times = try ChildProcess.run(probe, within: .seconds(90)).output.split(separator: "\n")
                return times.compactMap { Double($0.split(separator: ",")[0]) }.max() ?? 0 > 4
            }
            // It took 16 s without sound.
            for _ in 0..<2 { try show(server.url, within: .seconds(10)) }
        }

        @Test("HLS has a playlist within seconds, and a player that comes later shows it as soon")
        func playlist() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("room.m3u8")
            let desktop = try SharedDesktop(scene: ["--still"], options: ["--push", "file:" + path])
            defer { withExtendedLifetime(desktop) {} }
            func segments() -> Int {
                let text = String(decoding: (try? fileBytes(path)) ?? [], as: UTF8.self)
                return text.split(separator: "\n").count { $0.hasSuffix(".m4s") }
            }
            // Less than 2 s on such a machine.
            try eventually("a playlist", within: .seconds(5)) { segments() >= 1 }
            try show(path, within: .seconds(6))
            try eventually("three segments", within: .seconds(15)) { segments() >= 3 }
            try show(path, within: .seconds(6))
        }
    }
}
