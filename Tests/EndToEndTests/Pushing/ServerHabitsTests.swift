import Glibc
import MediaTypes
import OutputLife
import Processes
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// A server of the tests' own that waits for all that it is offered, and that holds names, as other people's do.
    /// `Tools/soak held-names` has it hold them for as long as they do.
    @Suite("Pushing to servers with habits", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct ServerHabitsTests {
        /// For how long a name is held, in seconds.
        private static let hold = Survival.count("SCREENRELAY_NAME_HOLD", default: 4)

        private func server(_ variables: [String: String]) throws -> (client: PythonClient, port: Int) {
            let client = try PythonClient("whip_holder", in: .rtc, ["0", "Sesam"], environment: variables)
            return (client, try #require(try client.event("listening")["port"] as? Int))
        }

        private func requests(_ client: PythonClient, _ method: String = "POST") -> [[String: Any]] {
            client.events.filter { $0["event"] as? String == "request" && $0["method"] as? String == method }
        }

        private func sections(_ event: [String: Any]) -> [String] { event["sections"] as? [String] ?? [] }

        @Test("a share without sound offers none, so that a server that waits for each section keeps it")
        func withoutSound() throws {
            let (client, port) = try server(["TIMEOUT": "2"])
            let desktop = try SharedDesktop(options: ["--push", "whip:http://Sesam@127.0.0.1:\(port)/409/desk"])
            #expect(sections(try client.event("whole")) == ["video"])
            for number in 0..<4 { try client.event("second") { $0["video"] as? Int ?? 0 > number } }
            #expect(requests(client).map(sections) == [["video"]])
            #expect(client.events.allSatisfy { $0["event"] as? String != "thrown" })
            #expect(desktop.host.stop() == .exited(0))
        }

        /// A host in this process, and its push to the server at `port`.
        private final class Studio {
            let host: ScreenRelayHost
            let pictures: CustomVideoTrack
            let push: Push
            private var picture = I420Picture(
                size: PictureSize(width: 64, height: 48), bytes: [UInt8](repeating: 128, count: 64 * 48 * 3 / 2),
                isFullRange: false, matrix: .bt709, captureTime: nil)
            private var written = 0

            init(_ port: Int, sound: CustomAudioTrack?, hasPictures: Bool = true) throws {
                host = try ScreenRelayHost(HostConfiguration())
                pictures = try CustomVideoTrack(picturesPerSecond: 30)
                if hasPictures { #expect(host.firstTrack.publish(pictures)) }
                if let sound { #expect(host.firstTrack.publish(sound)) }
                push = try host.push(to: try PushTarget("whip:http://Sesam@127.0.0.1:\(port)/409/room"))
            }

            deinit { host.stop() }

            /// Writes pictures until `isDone`.
            func write(_ what: String, until isDone: () throws -> Bool) throws {
                try eventually(what) {
                    written += 1
                    picture[.luma, written % 64, written / 64 % 48] = UInt8(truncatingIfNeeded: 64 + written)
                    pictures.write(picture: picture)
                    poll(nil, 0, 30)
                    return try isDone()
                }
            }
        }

        @Test("sound that is silent from the beginning is sent as silence, and the server keeps the push")
        func silentSound() throws {
            let (client, port) = try server(["TIMEOUT": "2"])
            let studio = try Studio(port, sound: try CustomAudioTrack(channelCount: 2))
            try studio.write("four seconds of both") {
                client.events.count { ($0["audio"] as? Int ?? 0) > 10 && ($0["video"] as? Int ?? 0) > 0 } >= 4
            }
            #expect(requests(client).map { Set(sections($0)) } == [["video", "audio"]])
            #expect(client.events.allSatisfy { $0["event"] as? String != "thrown" })
            // 60 ms a packet: a silence costs 17 of them a second.
            let most = client.events.compactMap { $0["audio"] as? Int }.max() ?? 0
            #expect(most <= 25)
            #expect(studio.push.state == .connected)
        }

        @Test("audio that starts later is published with the video in a new session, once, after the old one has ended")
        func laterSound() throws {
            let (client, port) = try server(["TIMEOUT": "2"])
            let studio = try Studio(port, sound: nil)
            try studio.write("pictures alone") { client.events.contains { $0["event"] as? String == "second" } }
            let sound = try CustomAudioTrack(channelCount: 2)
            #expect(studio.host.firstTrack.publish(sound))
            try studio.write("both") { client.events.contains { $0["audio"] as? Int ?? 0 > 0 } }
            try studio.write("a second more") { client.events.count { $0["audio"] as? Int ?? 0 > 0 } >= 2 }
            let asked = client.events.filter { $0["event"] as? String == "request" }
            #expect(asked.map { $0["method"] as? String } == ["POST", "DELETE", "POST"])
            #expect(asked.map { $0["status"] as? Int } == [201, 200, 201])
            #expect(requests(client).map { Set(sections($0)) } == [["video"], ["video", "audio"]])
        }

        @Test("an audio-only source offers no video; when video starts, it is published with both in a new session")
        func soundAlone() throws {
            let (client, port) = try server(["TIMEOUT": "2"])
            let studio = try Studio(port, sound: try CustomAudioTrack(channelCount: 2), hasPictures: false)
            try eventually("three seconds of sound") {
                client.events.count { $0["event"] as? String == "second" && $0["video"] == nil } >= 3
            }
            #expect(requests(client).map(sections) == [["audio"]])
            #expect(studio.host.firstTrack.publish(studio.pictures))
            try studio.write("both") {
                client.events.contains { ($0["audio"] as? Int ?? 0) > 0 && ($0["video"] as? Int ?? 0) > 0 }
            }
            #expect(requests(client).map { Set(sections($0)) } == [["audio"], ["video", "audio"]])
            #expect(client.events.allSatisfy { $0["event"] as? String != "thrown" })
        }

        @Test(
            "the push of a killed host reconnects once its name is free, and reports why it waits",
            .timeLimit(.minutes(5)),
            arguments: [
                ("409", "the stream name is in use (409)"), ("403", "the stream name is in use (403)"),
                ("wordless", "the server refuses the token, or the stream name is in use (403)"),
                ("silent", "the server has closed the connection without an answer; some do so while another"),
            ])
        func killed(habit: String, reason: String) throws {
            let (client, port) = try server(["HOLD": "\(Self.hold)"])
            let desktop = try SharedDesktop(
                apart: .hostFirst, hostOptions: ["--push", "whip:http://Sesam@127.0.0.1:\(port)/\(habit)/desk"])
            try client.event("second") { $0["video"] as? Int ?? 0 > 0 }
            desktop.host.child.terminate(SIGKILL)
            #expect(desktop.host.child.wait(within: .seconds(30)) == .signaled(SIGKILL))
            let before = client.events.count
            try desktop.restartHost()
            let limit = Interval.seconds(Int64(Self.hold) + 40)
            let later = { Array(client.events.dropFirst(before)) }
            try eventually("pictures again", within: limit) {
                let events = later()
                guard let begin = events.firstIndex(where: { $0["status"] as? Int == 201 }) else { return false }
                return events[begin...].contains { $0["video"] as? Int ?? 0 > 0 }
            }
            #expect(desktop.host.output.contains(" tries again: \(reason)"))
            #expect(desktop.host.output.contains("/... is connected\n") && !desktop.host.output.contains("has failed"))
            // Where it may be the token, it is asked seldom.
            let posts = later().filter { $0["event"] as? String == "request" }
            #expect(posts.count >= 2 && posts.count <= (habit == "wordless" ? 2 : 4) + Self.hold)
            for event in client.events {
                let at = event["at"] as? Double ?? 0
                print("\(habit) | \(at) | \(event.filter { $0.key != "at" && $0.key != "path" })")
            }
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("a wrong token is told at once and asked with once, or, where it may be the name, seldom")
        func wrongToken() throws {
            let (client, port) = try server([:])
            let place = "127.0.0.1:\(port)"
            let desktop = try SharedDesktop(options: [
                "--push", "whip:http://wrong@\(place)/409/desk", "--push", "whip:http://wrong@\(place)/403/desk",
                "--push", "whip:http://wrong@\(place)/wordless/desk", "--push-tries", "3",
            ])
            for words in [
                "has failed: the server refuses the token (401)", "has failed: the server refuses the token (403)",
                "tries again: the server refuses the token, or the stream name is in use (403)",
            ] {
                try eventually(words) { desktop.host.output.contains(words + "\n") }
            }
            let begin = now()
            try eventually("the second try", within: .seconds(90)) {
                requests(client).count { $0["path"] as? String == "/wordless/desk" } == 2
            }
            #expect(now() - begin > .seconds(6))
            for path in ["/409/desk", "/403/desk"] {
                #expect(requests(client).count { $0["path"] as? String == path } == 1)
            }
            #expect(desktop.host.stop() == .exited(0))
            #expect(!desktop.host.output.contains("wrong@") && !desktop.host.log.contains("wrong@"))
        }
    }
}
