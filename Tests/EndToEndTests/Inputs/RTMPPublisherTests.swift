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

        /// What the host prints after these words.
        private func printed(_ begin: String) throws -> String {
            try eventually("the line '\(begin)'") {
                // The last piece has no line feed yet.
                let lines = room.host.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                return lines.first { $0.hasPrefix(begin) }.map { String($0.dropFirst(begin.count)) }
            }
        }

        /// Expects pictures and a tone of 440 Hz in a file.
        private func expectPicturesAndTone(in file: String) throws {
            let pictures = try FFmpeg.decode(file, to: "gray")
            #expect(pictures.bytes.count >= 10 * 320 * 240, "\(pictures.messages)")
            let sound = try FFmpeg.run([
                "-i", file, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-f", "f32le", "pipe:1",
            ])
            #expect(sound.status == .exited(0), "\(sound.messages)")
            let samples = sound.bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            let isTone = stride(from: 24_000, through: samples.count - 24_000, by: 24_000).contains { start in
                let fit = ToneFit(440, in: Array(samples[start..<start + 24_000]))
                return fit.amplitude > 0.1 && fit.signalToNoise > 20
            }
            #expect(isTone, "\(samples.count) samples in \(file)")
        }

        @Test(
            "are seen and heard by RTSP players, and recorded, with and without B-frames", .timeLimit(.minutes(5)),
            arguments: [["-tune", "zerolatency"], ["-bf", "2"]])
        func published(encoder: [String]) throws {
            let words = try printed("Publishers over RTMP: ").split(separator: " ")
            let (server, key) = (try #require(words.first), try #require(words.last))
            var launch = Launch(
                "ffmpeg",
                [
                    "-hide_banner", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i",
                    "testsrc2=size=320x240:rate=25", "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)':s=48000",
                    "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "25",
                ] + encoder + ["-c:a", "aac", "-b:a", "128k", "-f", "flv", "\(server)/\(key)"])
            launch.standardError = .text(limit: 1 << 16)
            let sender = try ChildProcess(launch)
            defer { sender.stop(within: .zero) }
            try room.host.waitForLog("which is converted to Opus")
            try room.host.waitForLog("sends H.264 of 320x240")
            #expect((room.host.occurrences(of: "which is re-encoded") > 0) == encoder.contains("-bf"))

            let read = room.folder.file("rtsp.mkv")
            let copied = try FFmpeg.run([
                "-rtsp_transport", "tcp", "-i", try printed("Players of RTSP: "), "-map", "0", "-c", "copy", "-t", "3",
                read,
            ])
            #expect(copied.status == .exited(0), "\(copied.messages)")
            try expectPicturesAndTone(in: read)

            sender.stop(within: .zero)
            try room.host.waitForLog("has left screen/screen")
            #expect(room.host.occurrences(of: room.token) == 0)
            #expect(room.host.stop() == .exited(0))
            let exported = room.folder.file("room.mkv")
            let export = try CommandLineRun(["screenrelay", "export", room.recording, "-o", exported])
            #expect(export.status == .exited(0), "\(export.errorOutput)")
            try expectPicturesAndTone(in: exported)
        }
    }
}
