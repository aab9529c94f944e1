import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// Options of a host, each with and without.
    @Suite(
        "What options do",
        .enabled(
            if: EndToEnd.isPossible && PythonClient.isAvailable && FFmpeg.isAvailable
                && ProgramLookup.path(of: "curl") != nil))
    struct OptionEffectTests {
        private let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        private func host(_ options: [String], listen: String = "127.0.0.1:0") throws -> RunningProgram {
            try RunningProgram(
                "screenrelay",
                ["host", "--link", "unix:" + folder.file("s.sock"), "--listen", listen, "--udp-port", "0"] + options)
        }

        /// The status of an answer, 0 without one.
        private func status(_ url: String, _ headers: [String] = []) throws -> String {
            var launch = Launch(
                "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", url] + headers.flatMap { ["-H", $0] })
            launch.standardOutput = .text(limit: 1 << 12)
            return try ChildProcess.run(launch, within: .seconds(90)).output
        }

        /// A minute of a picture of noise, of some 8 Mbit/s, with a tone; returns its `--source`.
        private func noise() throws -> String {
            let path = folder.file("noise.mkv")
            let made = try FFmpeg.run([
                "-f", "lavfi", "-i", "testsrc=size=320x240:rate=25,noise=alls=60:allf=t", "-f", "lavfi", "-i",
                "sine=440:sample_rate=48000", "-t", "20", "-c:v", "libx264", "-bf", "0", "-g", "25", "-preset",
                "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "libopus", path,
            ])
            try #require(made.status == .exited(0), "\(made.messages)")
            return "file:" + path
        }

        private func frames(of file: String, input: [String] = []) throws -> Int {
            try FFmpeg.run(
                input + ["-i", file, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "pipe:1"]
            ).bytes
                .split(separator: 10).count { $0.first != 35 }
        }

        @Test("a proxy that is trusted names the viewer's address, and pages of an origin that is allowed get in")
        func proxyAndOrigin() throws {
            let headers = ["X-Forwarded-For", "192.0.2.7", "Origin", "https://example.org"]
            for (options, words) in [
                (
                    ["--trusted-proxy", "127.0.0.1", "--allow-origin", "https://example.org"],
                    "viewer Ann (192.0.2.7) came"
                ),
                (["--allow-origin", "https://example.org"], "viewer Ann (127.0.0.1) came"), ([], ""),
            ] {
                let host = try host(options)
                let guest = try PythonClient("guest", in: .rtc, [try host.printedLink(), "Ann"] + headers)
                if words.isEmpty {
                    #expect(try guest.event("refused")["status"] as? Int == 403)
                } else {
                    try guest.event("joined")
                    try eventually(words) { host.output.contains(words) }
                }
            }
        }

        @Test(
            "--new-token makes a link that wasn't there, and the old one ends with it; --open makes one without a token"
        )
        func tokens() throws {
            let file = folder.file("token")
            func link(_ options: [String]) throws -> (RunningProgram, LinkParts) {
                let host = try host(options)
                return (host, LinkParts(try host.printedLink()))
            }
            var (running, first) = try link(["--token-file", file])
            #expect(running.stop() == .exited(0))
            var again: LinkParts
            (running, again) = try link(["--token-file", file])
            #expect(again.token == first.token && running.stop() == .exited(0))
            (running, again) = try link(["--token-file", file, "--new-token"])
            #expect(again.token != first.token)
            #expect(try status(again.base + "/whep/screen", ["Authorization: Bearer \(first.token)"]) == "401")
            #expect(try status(again.base + "/whep/screen", ["Authorization: Bearer \(again.token)"]) == "200")
            #expect(try status(again.base + "/whep/screen") == "401")
            #expect(running.stop() == .exited(0))
            (running, first) = try link(["--open"])
            #expect(first.token.isEmpty)
            #expect(try status(first.base + "/whep/screen") == "200")
        }

        @Test("a file for a token that is missing is created, and a line says so")
        func missingFiles() throws {
            let options = ["--token-file", "--present-token-file", "--admin-token-file"]
            let words = options.flatMap { [$0, folder.file("new" + $0)] }
            let first = try host(words)
            for option in options {
                try first.waitForLog("\(option) \(folder.file("new" + option)): there was no such file")
            }
            #expect(try first.printedLink().contains("#screen,"))
            #expect(first.stop() == .exited(0))
            let second = try host(words)
            #expect(try second.printedLink().contains("#screen,"))
            #expect(second.stop() == .exited(0))
            #expect(!second.log.contains("there was no such file"))
        }

        @Test("other machines use /api only with --api-lan, and only with its token")
        func administration() throws {
            for isAllowed in [true, false] {
                let token = folder.file("admin-\(isAllowed)")
                let host = try host(
                    ["--lan", "--admin-token-file", token] + (isAllowed ? ["--api-lan"] : []), listen: "0")
                let base = LinkParts(try host.printedLink()).base
                // A machine that is in no network can't be another one.
                guard !base.hasPrefix("http://127.") else { return }
                let text = String(decoding: try fileBytes(token), as: UTF8.self).split(separator: "\n")
                let header = "Authorization: Bearer \(try #require(text.first))"
                #expect(try status(base + "/api/rooms", [header]) == (isAllowed ? "200" : "403"))
                #expect(try status(base + "/api/rooms") == (isAllowed ? "401" : "403"))
                let port = try #require(base.split(separator: ":").last)
                #expect(try status("http://127.0.0.1:\(port)/api/rooms", [header]) == "200")
            }
        }

        @Test("a recording ends before its limit, is whole, and sharing goes on")
        func recordLimit() throws {
            let recording = folder.file("r.srr")
            let host = try host(["--source", try noise(), "--record", recording, "--record-limit", "1M"])
            let link = try host.printedLink()
            try eventually("the end of the recording in \(host.log)") { host.log.contains("limit") }
            let size = try fileBytes(recording).count
            #expect(size <= 1_000_000 && size > 900_000)
            let file = folder.file("r.mkv")
            let export = try CommandLineRun(["screenrelay", "export", recording, "-o", file])
            #expect(export.status == .exited(0), "\(export.errorOutput)")
            #expect(try frames(of: file) >= 10)
            let first = try LinkSnapshot(of: link).picture.bytes
            try eventually("another frame") { try LinkSnapshot(of: link).picture.bytes != first }
            #expect(try fileBytes(recording).count == size && host.stop() == .exited(0))
        }

        @Test("a host that is killed leaves the files that it pushed to, but for their last second")
        func killed() throws {
            let files = ["a.mkv", "a.mp4", "room.m3u8"].map { folder.file($0) }
            let host = try host(["--source", try noise()] + files.flatMap { ["--push", "file:" + $0] })
            _ = try host.printedLink()
            let begin = now()
            try eventually("the files") { files.allSatisfy { access($0, R_OK) == 0 } }
            try eventually("five seconds") { now() - begin > .seconds(5) }
            host.child.terminate(SIGKILL)
            #expect(host.child.wait(within: .seconds(30)) != nil)
            // Who reads a playlist without an end waits for more of it.
            let firstSecond = ["-live_start_index", "0", "-t", "1"]
            for (file, least, input) in [(files[0], 50, []), (files[1], 50, []), (files[2], 20, firstSecond)] {
                let count = try frames(of: file, input: input)
                #expect(count >= least, "\(count) frames in \(file)")
            }
        }

        @Test("64 pushes at once all get frames, and one more is refused")
        func many() throws {
            let files = (0..<64).map { folder.file("\($0).mkv") }
            let host = try host(["--source", try noise()] + files.flatMap { ["--push", "file:" + $0] })
            _ = try host.printedLink()
            try eventually("64 files") { files.allSatisfy { ((try? fileBytes($0))?.count ?? 0) > 100_000 } }
            let more = try CommandLineRun([
                "screenrelay", "push", "add", "file:" + folder.file("more.mkv"), "--pid", "\(host.child.processID)",
            ])
            #expect(more.status != .exited(0) && more.errorLine?.contains("there are 64 that run") == true)
            #expect(host.stop() == .exited(0))
            #expect(host.output.ranges(of: " has ended").count == 64)
            for file in [files[0], files[31], files[63]] { #expect(try frames(of: file) >= 10) }
        }

        @Test("when links expire, publishers and callers are removed")
        func expiry() throws {
            let host = try host(["--presenters", "--expires", "8s", "--log", "info"])
            let link = try host.printedLink()
            let parts = LinkParts(link)
            let publisher = try PythonClient(
                "whip_publisher", in: .rtc, ["\(parts.base)/whip/screen", try host.presentersToken()])
            let caller = try PythonClient(
                "socketio_client", in: .socketio5,
                ["--url", parts.base, "--room", "\(parts.room),\(parts.token)", "--transport", "websocket"])
            try publisher.event("connected")
            try caller.event("frame")
            try eventually("the expiry") { host.output.contains("have expired") }
            try caller.event("leaved")
            try publisher.event("closed")
            #expect(try status(parts.base + "/whep/screen", ["Authorization: Bearer \(parts.token)"]) == "401")
        }
    }
}
