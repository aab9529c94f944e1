import H264
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Pushing a named track", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct TrackPushTests {
        private let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        private func status(of room: PublishedRoom, _ words: String...) throws -> String {
            let process = ["--pid", "\(room.host.child.processID)"]
            return try CommandLineRun(["screenrelay", "status"] + process + words).output
        }

        /// The slices of a file's pictures.
        private func slices(of file: String) throws -> Set<[[UInt8]]> {
            let raw = file + ".264"
            let copied = try FFmpeg.run(["-y", "-i", file, "-map", "0:v:0", "-c", "copy", "-f", "h264", raw])
            #expect(copied.status == .exited(0), "\(copied.messages)")
            return Set(AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(raw)).map(\.slices))
        }

        @Test(
            "waits for its publisher, passes its pictures on byte for byte with its tone, and goes on when it returns",
            .timeLimit(.minutes(5)))
        func publisher() throws {
            let servers = try MediaReceiver.Transport.allCases.map {
                try MediaReceiver($0, port: try freePort(), in: folder)
            }
            let list = folder.file("room.m3u8")
            let files = servers.map(\.file) + [folder.file("pushed.mkv")]
            let urls = servers.map(\.url) + ["file:" + folder.file("pushed.mkv"), "file:" + list]
            let room = try PublishedRoom(["--rtmp", "0"] + urls.flatMap { ["--push", $0 + ",track=film"] })
            let target = urls[0].replacing("/key", with: "/...")
            try eventually("it waits") {
                try status(of: room).contains("push 1 of film to \(target): waiting for its track")
            }
            #expect(room.host.output.contains("the push of film to \(target) waits for its track\n"))
            let json = try status(of: room, "--json")
            #expect(json.contains(#""state":"waiting","to":"\#(target)","track":"film""#), "\(json)")
            // The first track isn't pushed.
            let address = try #require(room.host.printed("Publishers over RTMP: ").split(separator: " ").first)
            let other = try PublishedRoom.publish(
                ["-tune", "zerolatency"], to: ["-f", "flv", "\(address)/screen?token=\(room.token)"])
            defer { other.stop(within: .zero) }
            try room.host.waitForLog("sends H.264")
            #expect(try status(of: room).contains("waiting for its track"))
            var sent: Set<[[UInt8]]> = []
            for round in 1...2 {
                let copy = folder.file("sent-\(round).mkv")
                let place = "[f=flv]\(address)/screen/film?token=\(room.token)"
                let before = files.map { (try? fileBytes($0))?.count ?? 0 }
                let sender = try PublishedRoom.publish(
                    ["-tune", "zerolatency"],
                    to: ["-map", "0:v", "-map", "1:a", "-flags", "+global_header", "-f", "tee"]
                        + ["\(place)|[f=matroska]\(copy)"])
                defer { sender.stop(within: .zero) }
                try eventually("more pictures") {
                    zip(files, before).allSatisfy { (try? fileBytes($0))?.count ?? 0 > $1 + 200_000 }
                }
                // It ends in order, so that its copy is whole.
                sender.stop(within: .seconds(20))
                try room.host.waitForLog("has left screen/film", count: round)
                sent.formUnion(try slices(of: copy))
            }
            #expect(try status(of: room).contains("push 1 of film to \(target): connected"))
            #expect(room.host.output.ranges(of: "\(target) is connected").count == 1)
            #expect(room.host.stop() == .exited(0))
            for server in servers { #expect(server.process.wait(within: .seconds(90)) != nil) }
            for file in files {
                let received = try slices(of: file)
                #expect(
                    received.count > 50 && received.isSubset(of: sent),
                    "\(received.count) of \(sent.count) in \(file)")
            }
            for file in files + [list] { try room.expectPicturesAndTone(in: file) }
        }

        @Test(
            "passes a WHIP publisher's pictures on to a WHIP server, with the tone, and to Janus",
            .enabled(if: PythonClient.isAvailable), .timeLimit(.minutes(5)))
        func server() throws {
            let heard = folder.file("heard.pcm")
            let server = try PythonClient("whip_server", in: .rtc, ["0", "Sesam", heard])
            let port = try #require(try server.event("listening")["port"] as? Int)
            let janus = try PythonClient("janus_server", in: .rtc, ["0", "Sesam"])
            let janusPort = try #require(try janus.event("listening")["port"] as? Int)
            let room = try PublishedRoom([
                "--push", "whip:http://Sesam@127.0.0.1:\(port)/whip,track=film",
                "--push", "janus:ws://Sesam@127.0.0.1:\(janusPort)#1234,sesame,track=film",
            ])
            let shown = "the push of film to whip:http://127.0.0.1:\(port)/... "
            try eventually("it waits") { room.host.output.contains(shown + "waits for its track\n") }
            let words = [room.address + "/whip/screen/film", room.token, "--tone", "440"]
            let publisher = try PythonClient("whip_publisher", in: .rtc, words)
            try publisher.event("connected")
            try eventually("it is connected") { room.host.output.contains(shown + "is connected\n") }
            for client in [server, janus] { try client.event("pictures") { $0["count"] as? Int ?? 0 >= 5 } }
            try eventually("some sound") { (try? fileBytes(heard))?.isEmpty == false }
            try room.waitForTone(in: heard)
            try publisher.tell("leave")
            try publisher.event("left")
            #expect(room.host.stop() == .exited(0))
            #expect(room.host.output.contains(shown + "has ended\n") && !room.host.output.contains("Sesam"))
        }

        @Test("says that it waits for a track that never comes, connects to nobody, and can be stopped")
        func never() throws {
            let url = "rtmp://127.0.0.1:\(try freePort())/live/Sesam"
            let room = try PublishedRoom(["--push", url + ",track=nobody"])
            func push(_ words: String...) throws -> CommandLineRun {
                try CommandLineRun(["screenrelay", "push"] + words + ["--pid", "\(room.host.child.processID)"])
            }
            let added = try push("add", url + ",track=screen/other", "--preset", "low1")
            #expect(added.output == "push 2 of screen/other to \(url.replacing("Sesam", with: "..."))\n")
            try eventually("both wait") {
                try push("list", "--json").output.ranges(of: #""state":"waiting""#).count == 2
            }
            let list = try push("list").output
            #expect(list.contains(" nobody ") && list.contains(" screen/other ") && !list.contains("Sesam"), "\(list)")
            let refused = try push("add", url + ",track=attic/film")
            #expect(refused.status != .exited(0) && refused.errorLine?.contains("there is no room attic") == true)
            for number in ["1", "2"] { #expect(try push("stop", number).status == .exited(0)) }
            try eventually("both have ended") {
                try push("list", "--json").output.ranges(of: #""state":"disconnected""#).count == 2
            }
            #expect(!room.host.output.contains("has failed") && !room.host.output.contains("is connected"))
        }

        @Test(
            "is refused in one line without its key if it can't be a track, with 64",
            arguments: ["", "/", "a/b/c", ".hidden", "film?sign=Sesam", String(repeating: "x", count: 65)])
        func mistakes(track: String) throws {
            let words = ["host", "--push", "rtmp://live.example/app/Sesam,track=\(track)"]
            let run = try CommandLineRun(["screenrelay"] + words + RunningProgram.anyPorts)
            #expect(run.status == .exited(64))
            let line = try #require(run.errorLine)
            #expect(line.contains("--push: track=: not a track name") && !line.contains("Sesam"), "\(line)")
        }
    }
}
