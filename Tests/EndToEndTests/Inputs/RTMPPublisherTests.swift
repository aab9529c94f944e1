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
            let words = try room.printed("Publishers over RTMP: ").split(separator: " ")
            let (server, key) = (try #require(words.first), try #require(words.last))
            var launch = Launch(
                "ffmpeg",
                [
                    "-hide_banner", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i",
                    "testsrc2=size=320x240:rate=25", "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)':s=48000",
                    "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "25",
                ] + encoder + ["-c:a", "aac", "-b:a", "128k", "-f", "flv", "\(server)/\(key)"])
            launch.standardError = .text(limit: 1 << 16)
            return try ChildProcess(launch)
        }

        @Test(
            "are seen and heard by RTSP players, and recorded, with and without B-frames", .timeLimit(.minutes(5)),
            arguments: [["-tune", "zerolatency"], ["-bf", "2"]])
        func published(encoder: [String]) throws {
            let sender = try publish(encoder)
            defer { sender.stop(within: .zero) }
            try room.host.waitForLog("which is converted to Opus")
            try room.host.waitForLog("sends H.264 of 320x240")
            #expect((room.host.occurrences(of: "which is re-encoded") > 0) == encoder.contains("-bf"))

            let read = room.folder.file("rtsp.mkv")
            let copied = try FFmpeg.run([
                "-rtsp_transport", "tcp", "-i", try room.printed("Players of RTSP: "), "-map", "0", "-c", "copy", "-t",
                "3", read,
            ])
            #expect(copied.status == .exited(0), "\(copied.messages)")
            try room.expectPicturesAndTone(in: read)

            sender.stop(within: .zero)
            try room.host.waitForLog("has left screen/screen")
            #expect(room.host.occurrences(of: room.token) == 0)
            #expect(room.host.stop() == .exited(0))
            let exported = room.folder.file("room.mkv")
            let export = try CommandLineRun(["screenrelay", "export", room.recording, "-o", exported])
            #expect(export.status == .exited(0), "\(export.errorOutput)")
            try room.expectPicturesAndTone(in: exported)
        }

        @Test(
            "are seen and heard by a WHEP player, are in the status, and can be removed",
            .enabled(if: PythonClient.isAvailable), .timeLimit(.minutes(5)))
        func watched() throws {
            let sender = try publish(["-bf", "2"])
            defer { sender.stop(within: .zero) }
            try room.host.waitForLog("sends H.264 of 320x240 with B-frames")
            let heard = room.folder.file("player.pcm")
            let player = try PythonClient(
                "whep_player", in: .rtc, ["\(room.address)/whep/screen", "--token", room.token, "--sound", heard])
            try player.event("frame") { $0["width"] as? Int == 320 && $0["number"] as? Int ?? 0 > 25 }
            try eventually("the tone at the player") {
                let bytes = try fileBytes(heard)
                let left = bytes.withUnsafeBytes { raw in
                    stride(from: 0, to: raw.count / 4 * 4, by: 4).map {
                        Float(raw.loadUnaligned(fromByteOffset: $0, as: Int16.self)) / 32768
                    }
                }
                return room.hasTone(left) ? () : nil
            }

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
