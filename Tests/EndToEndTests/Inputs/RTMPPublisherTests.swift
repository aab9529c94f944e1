import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Publishers over RTMP", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct RTMPPublisherTests {
        private let room: PublishedRoom

        init() throws {
            room = try PublishedRoom(["--rtmp", "0", "--rtsp", "0"], isRecorded: true)
        }

        /// Starts FFmpeg with these options of x264, and publishes with the settings that the host prints.
        private func publish(_ encoder: [String]) throws -> ChildProcess {
            try PublishedRoom.publish(encoder, to: ["-f", "flv", Self.url(of: room.host)])
        }

        /// The URL in the settings that a program prints.
        private static func url(of program: RunningProgram) throws -> String {
            let words = try program.printed("Publishers over RTMP: ").split(separator: " ")
            return "\(try #require(words.first))/\(try #require(words.last))"
        }

        @Test("reach a share in another track than its capture's, as those over SRT do", .timeLimit(.minutes(5)))
        func besideCapture() throws {
            let desktop = try SharedDesktop(options: ["--rtmp", "0", "--srt", "0", "--rtsp", "0", "--presenters"])
            #expect(try desktop.host.printed("Publishers over RTSP: ").hasSuffix("/TRACK"))
            let url = try Self.url(of: desktop.host)
            #expect(url.contains("/TRACK?token="))
            let sender = try PublishedRoom.publish(
                ["-tune", "zerolatency"], to: ["-f", "flv", url.replacing("/TRACK?", with: "/camera?")])
            defer { sender.stop(within: .zero) }
            let place = try desktop.host.printed("Publishers over SRT: ")
            #expect(place.contains("/TRACK,"))
            let caller = try PublishedRoom.publish(
                ["-tune", "zerolatency"], to: ["-f", "mpegts", place.replacing("/TRACK,", with: "/stage,")])
            defer { caller.stop(within: .zero) }
            try eventually("both in the status") {
                let status = try CommandLineRun(["screenrelay", "status", "--pid", "\(desktop.host.child.processID)"])
                let parts = ["track camera published over RTMP: H.264", "track stage published over SRT: H.264"]
                return parts.allSatisfy { status.output.contains($0) } ? () : nil
            }
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test(
            "reach RTSP players and recordings with video and audio, with and without B-frames",
            .timeLimit(.minutes(5)), arguments: [["-tune", "zerolatency"], ["-bf", "2"]])
        func published(encoder: [String]) throws {
            let sender = try publish(encoder)
            defer { sender.stop(within: .zero) }
            try room.host.waitForLog("which is converted to Opus")
            try room.host.waitForLog("sends H.264 of 320x240")
            #expect((room.host.occurrences(of: "which is re-encoded") > 0) == encoder.contains("-bf"))
            try room.expectPlayedAndRecorded(sender, over: "tcp")
        }

        @Test(
            "reach a WHEP player with video and audio, are in the status, and can be removed",
            .enabled(if: PythonClient.isAvailable), .timeLimit(.minutes(5)))
        func watched() throws {
            let sender = try publish(["-bf", "2"])
            defer { sender.stop(within: .zero) }
            try room.host.waitForLog("sends H.264 of 320x240 with B-frames")
            let heard = room.folder.file("player.pcm")
            let player = try PythonClient(
                "whep_player", in: .rtc, ["\(room.address)/whep/screen", "--token", room.token, "--sound", heard])
            try player.event("frame") { $0["width"] as? Int == 320 && $0["number"] as? Int ?? 0 > 25 }
            try room.waitForTone(in: heard)

            func ask(_ words: [String]) throws -> CommandLineRun {
                try CommandLineRun(["screenrelay"] + words + ["--pid", "\(room.host.child.processID)"])
            }
            let sent = "H.264 of 320x240 with B-frames, which is re-encoded, and aac, which is converted to Opus"
            let status = try ask(["status"])
            #expect(status.output.contains("; track screen published over RTMP: \(sent)"), "\(status.output)")
            let removal = try ask(["remove", "publisher"])
            #expect(removal.status == .exited(0), "\(removal.errorOutput)")
            try room.host.waitForLog("has left screen/screen: it was removed from the room")
            #expect(sender.wait(within: .seconds(20)) != nil)
        }
    }
}
