import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Servers that are written only from the protocols' texts, with aiortc as their WebRTC.
    @Suite("Pushing to WebRTC servers", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct WebRTCPushTests {
        private func server(_ name: String, port: Int = 0) throws -> (client: PythonClient, port: Int) {
            let client = try PythonClient(name, in: .rtc, ["\(port)", "Sesam"])
            return (client, try #require(try client.event("listening")["port"] as? Int))
        }

        private func requests(_ client: PythonClient, _ method: String) -> [[String: Any]] {
            client.events.filter { $0["event"] as? String == "request" && $0["method"] as? String == method }
        }

        /// Waits until the server has decoded some pictures of the desktop's size.
        private func expectPictures(_ client: PythonClient) throws {
            let seen = try client.event("pictures") { $0["count"] as? Int ?? 0 >= 5 }
            #expect(seen["width"] as? Int == 640 && seen["height"] as? Int == 480)
        }

        @Test("a WHIP endpoint gets pictures, and a DELETE at the end; nobody sees the token")
        func whip() throws {
            let (client, port) = try server("whip_server")
            let url = "whip:http://Sesam@127.0.0.1:\(port)/moved"
            let desktop = try SharedDesktop(options: ["--push", url, "--log", "debug"])
            let shown = "the push to whip:http://127.0.0.1:\(port)/... "
            try eventually("it is connected") { desktop.host.output.contains(shown + "is connected") }
            try expectPictures(client)
            // The redirect, and the session.
            #expect(requests(client, "POST").map { $0["status"] as? Int } == [307, 201])
            #expect(requests(client, "POST").allSatisfy { $0["type"] as? String == "application/sdp" })
            let process = ["--pid", "\(desktop.host.child.processID)"]
            try eventually("a status") {
                let json = try CommandLineRun(["screenrelay", "push", "list", "--json"] + process).output
                return json.contains(#""state":"connected""#) && json.contains(#""picturesPerSecond":"#)
                    && !json.contains(#""bitsPerSecond":0,"#)
            }
            let refused = try CommandLineRun(["screenrelay", "push", "reload", "1", "--preset", "low1"] + process)
            #expect(refused.status != .exited(0) && refused.errorLine?.contains("only=pictures is all") == true)
            // The old session ends before the next one begins: a server may have one place for us.
            #expect(try CommandLineRun(["screenrelay", "push", "restart", "1"] + process).status == .exited(0))
            try eventually("it is connected again") {
                desktop.host.output.ranges(of: shown + "is connected").count == 2
            }
            let asked = client.events.filter { $0["event"] as? String == "request" }.map { $0["method"] as? String }
            #expect(asked == ["POST", "POST", "DELETE", "POST", "POST"])
            let arguments = try fileBytes("/proc/\(desktop.host.child.processID)/cmdline")
            #expect(!String(decoding: arguments, as: UTF8.self).contains("Sesam"))
            #expect(desktop.host.stop() == .exited(0))
            #expect(desktop.host.output.contains(shown + "has ended"))
            #expect(requests(client, "DELETE").map { $0["status"] as? Int } == [200, 200])
            #expect(!desktop.host.output.contains("Sesam") && !desktop.host.log.contains("Sesam"))
        }

        @Test("the pointer is drawn into what a WHIP endpoint gets, and none of that is padding")
        func pointer() throws {
            // A white dot with its hot spot in the middle, and a place beside it on the scene's dark ground.
            let client = try PythonClient(
                "whip_server", in: .rtc, ["0", "Sesam"], environment: ["PLACES": "300,9 340,9"])
            let port = try #require(try client.event("listening")["port"] as? Int)
            let desktop = try SharedDesktop(
                scene: ["--still"], options: ["--push", "whip:http://Sesam@127.0.0.1:\(port)/whip"])
            try expectPictures(client)
            let display = try DisplayClient(desktop.screen.name)
            func waitForDot(_ isThere: Bool) throws {
                let seen = try client.event("pictures") {
                    let luma = $0["luma"] as? [Int] ?? []
                    return luma.count == 2 && (luma[0] > 180) == isThere && luma[1] < 100
                }
                // A server would pass it on, and some viewers take it for a picture.
                #expect(seen["padding"] as? Int == 0)
            }
            try waitForDot(false)
            display.showPointer(at: (300, 9), glyph: 38)
            try waitForDot(true)
            withExtendedLifetime(desktop) {}
        }

        @Test("a WHIP endpoint hears a host whose only medium is audio", .enabled(if: FFmpeg.isAvailable))
        func audioAlone() throws {
            let folder = try TemporaryFolder()
            let (source, heard) = (folder.file("tone.mkv"), folder.file("heard.pcm"))
            let made = try FFmpeg.run([
                "-f", "lavfi", "-i", "sine=440:sample_rate=48000", "-af", "volume=6", "-t", "60", "-c:a", "libopus",
                source,
            ])
            try #require(made.status == .exited(0), "\(made.messages)")
            let client = try PythonClient("whip_server", in: .rtc, ["0", "Sesam", heard])
            let port = try #require(try client.event("listening")["port"] as? Int)
            let host = try RunningProgram.host(
                "unix:" + folder.file("s.sock"),
                ["--source", "file:" + source, "--push", "whip:http://Sesam@127.0.0.1:\(port)/whip"])
            try eventually("it is connected") { host.output.contains("/... is connected") }
            // Half a second of the left channel.
            let count = 24_000
            try eventually("the tone") {
                guard let bytes = try? fileBytes(heard) else { return false }
                let samples = bytes.suffix(count * 4).withUnsafeBytes { raw in
                    stride(from: 0, to: raw.count / 4 * 4, by: 4).map {
                        Float(raw.loadUnaligned(fromByteOffset: $0, as: Int16.self)) / 32768
                    }
                }
                guard samples.count == count else { return false }
                let fit = ToneFit(440, in: samples)
                return fit.amplitude > 0.1 && fit.signalToNoise > 20
            }
            #expect(client.events.allSatisfy { $0["event"] as? String != "pictures" })
            #expect(host.stop() == .exited(0))
        }

        @Test("a WHIP server that is killed and started again gets pictures again")
        func again() throws {
            let (client, port) = try server("whip_server")
            let url = "whip:http://Sesam@127.0.0.1:\(port)/whip"
            let desktop = try SharedDesktop(options: ["--push", url, "--push-tries", "3"])
            try expectPictures(client)
            func status(_ words: String...) throws -> String {
                try CommandLineRun(["screenrelay", "status", "--pid", "\(desktop.host.child.processID)"] + words).output
            }
            let shown = "push 1 to whip:http://127.0.0.1:\(port)/...: "
            try eventually("the status") { try status().contains(shown + "connected") }
            client.child.terminate(SIGKILL)
            #expect(client.child.wait(within: .seconds(30)) != nil)
            try eventually("the status") { try status().contains(shown + "tries again: ") }
            #expect(try status("--json").contains(/"reason":"[^"]+","state":"autoReconnecting"/))
            let (next, _) = try server("whip_server", port: port)
            try expectPictures(next)
            try eventually("the status") { try status().contains(shown + "connected") }
            #expect(desktop.host.output.contains("tries again: the peer has been silent for 2.5 s\n"))
            #expect(!desktop.host.output.contains("has failed"))
        }

        @Test("a refused token is one error; a busy server and a circle are told; where nobody listens is asked again")
        func refusals() throws {
            let (client, port) = try server("whip_server")
            let place = "127.0.0.1:\(port)"
            let desktop = try SharedDesktop(options: [
                "--push", "whip:http://wrong@\(place)/whip", "--push", "whip:http://\(place)/whip",
                "--push", "whip:http://Sesam@\(place)/busy", "--push", "whip:http://Sesam@\(place)/circle",
                "--push", "whip:http://Sesam@\(place)/gone", "--push-tries", "1",
            ])
            for reason in [
                "the server refuses the token (401)", "the server wants a token (401)",
                "the server is busy (503), and asks to wait for 7 s",
                "the server sends this push from one address to the next",
            ] {
                try eventually(reason) { desktop.host.output.contains("has failed: \(reason)\n") }
            }
            func posts(_ path: String) -> Int { requests(client, "POST").count { $0["path"] as? String == path } }
            // Who is refused doesn't try again.
            #expect(posts("/whip") == 2 && posts("/busy") == 2 && posts("/circle") == 12)
            // Where nobody listens, one try asks again and again.
            try eventually("the fourth time") { posts("/gone") >= 4 }
            #expect(desktop.host.child.poll() == nil)
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("a Janus room gets pictures, again after its server's restart; a wrong PIN is one error")
        func janus() throws {
            let (client, port) = try server("janus_server")
            let url = "janus:ws://Sesam@127.0.0.1:\(port)#1234"
            let desktop = try SharedDesktop(options: [
                "--push", url + ",sesame", "--push-tries", "3", "--push", url + ",wrong",
                "--push", "janus:ws://127.0.0.1:\(port)#1234", "--push", "janus:ws://Sesam@127.0.0.1:\(port)#4321",
            ])
            let shown = "the push to janus:ws://127.0.0.1:\(port)#1234 "
            try eventually("it is connected") { desktop.host.output.contains(shown + "is connected") }
            try expectPictures(client)
            for reason in [
                "the room refuses this publisher's token or PIN (433)",
                "the server refuses this publisher's token or PIN (403)", "there is no such room (426)",
            ] {
                try eventually(reason) { desktop.host.output.contains(": \(reason)\n") }
            }
            client.child.terminate(SIGKILL)
            #expect(client.child.wait(within: .seconds(30)) != nil)
            let (next, _) = try server("janus_server", port: port)
            try expectPictures(next)
            #expect(desktop.host.stop() == .exited(0))
            try next.event("request") { $0["janus"] as? String == "destroy" }
            #expect(!desktop.host.output.contains("sesame") && !desktop.host.log.contains("sesame"))
        }

        @Test("an address or a preset that can't be used is refused in one line without its token, with 64")
        func mistakes() throws {
            for (words, reason) in [
                (["whip:https://Sesam@live.example"], "has no path"), (["whip:wss://live.example/x"], "can't be read"),
                (["janus:wss://Sesam@live.example"], "names no room"),
                (["whip:https://Sesam:Sesam@live.example/x"], "a user and a password"),
                (["whip:https://Sesam@live.example/x", "--preset", "low1"], "only=pictures is all"),
                (["whip:https://Sesam@live.example/x", "--preset", "only=sound"], "only=pictures is all"),
            ] {
                let run = try CommandLineRun(["screenrelay", "host", "--push"] + words + RunningProgram.anyPorts)
                #expect(run.status == .exited(64))
                let line = try #require(run.errorLine)
                #expect(line.contains(reason) && !line.contains("Sesam"), "\(line)")
            }
        }
    }
}
