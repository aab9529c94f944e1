import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Publishers over SRT", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct SRTPublisherTests {
        @Test("reach RTSP players with video, at the address that the host prints", .timeLimit(.minutes(5)))
        func published() throws {
            let folder = try TemporaryFolder()
            let file = try folder.write("passphrase", Array("correct-horse\n".utf8))
            let room = try PublishedRoom(["--srt", "0", "--srt-passphrase-file", file, "--rtsp", "0"])
            let address = try room.host.printed("Publishers over SRT: ")
            let end = "&passphrase=PASSPHRASE"
            #expect(address.hasSuffix(end) && address.contains("?streamid=publish:screen,\(room.token)"))
            var launch = Launch(
                "ffmpeg",
                [
                    "-hide_banner", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i",
                    "testsrc2=size=320x240:rate=25", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-tune", "zerolatency",
                    "-g", "25", "-f", "mpegts", "\(address.dropLast(end.count))&passphrase=correct-horse",
                ])
            launch.standardError = .text(limit: 1 << 16)
            let sender = try ChildProcess(launch)
            defer { sender.stop(within: .zero) }
            try room.host.waitForLog("sends H.264 of 320x240")
            let read = room.folder.file("rtsp.mkv")
            let copied = try FFmpeg.run([
                "-rtsp_transport", "tcp", "-i", try room.host.printed("Players of RTSP: "), "-map", "0:v", "-c", "copy",
                "-t", "3", read,
            ])
            #expect(copied.status == .exited(0), "\(copied.messages)")
            let pictures = try FFmpeg.decode(read, to: "gray")
            #expect(pictures.bytes.count >= 10 * 320 * 240, "\(pictures.messages)")

            sender.stop()
            try room.host.waitForLog("has left screen/screen")
            #expect(room.host.occurrences(of: room.token) == 0 && room.host.occurrences(of: "correct-horse") == 0)
            #expect(room.host.stop() == .exited(0))
        }
    }
}
