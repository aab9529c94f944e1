import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Publishers over RTSP", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct RTSPPublisherTests {
        private let room: PublishedRoom

        init() throws {
            room = try PublishedRoom(["--rtsp", "0"], isRecorded: true)
        }

        @Test(
            "are seen and heard by RTSP players, and recorded", .timeLimit(.minutes(5)), arguments: ["tcp", "udp"])
        func published(transport: String) throws {
            var launch = Launch(
                "ffmpeg",
                [
                    "-hide_banner", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i",
                    "testsrc2=size=320x240:rate=25", "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)':s=48000",
                    "-pix_fmt", "yuv420p", "-c:v", "libx264", "-tune", "zerolatency", "-g", "25", "-c:a", "aac",
                    "-b:a", "128k", "-f", "rtsp", "-rtsp_transport", transport,
                    try room.printed("Publishers over RTSP: "),
                ])
            launch.standardError = .text(limit: 1 << 16)
            let sender = try ChildProcess(launch)
            defer { sender.stop(within: .zero) }
            try room.host.waitForLog("which is converted to Opus")
            try room.host.waitForLog("sends H.264 of 320x240")
            #expect(room.host.occurrences(of: "which is re-encoded") == 0)

            let read = room.folder.file("rtsp.mkv")
            let copied = try FFmpeg.run([
                "-rtsp_transport", transport, "-i", try room.printed("Players of RTSP: "), "-map", "0", "-c", "copy",
                "-t", "3", read,
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
    }
}
