import H264
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A publisher over SRT behind a path that loses datagrams both ways: what the recording has of its pictures.
    @Suite(
        "SRT over a lossy path", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable),
        .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
    struct SRTLossTests {
        @Test("every picture arrives, though one in twenty datagrams is lost", .timeLimit(.minutes(5)))
        func repaired() throws {
            let port: UInt16 = 9000
            let network = try LossyNetwork(losingOneIn: 20, at: port)
            let room = try PublishedRoom(["--srt", "\(port)"], isRecorded: true, inside: network)
            let (raw, movie) = (room.folder.file("sent.264"), room.folder.file("sent.mp4"))
            let made = try FFmpeg.run([
                "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25", "-frames:v", "125", "-pix_fmt", "yuv420p",
                "-c:v", "libx264", "-tune", "zerolatency", "-g", "25", "-b:v", "3M", "-f", "h264", raw,
            ])
            try #require(made.status == .exited(0), "\(made.messages)")
            let wrapped = try FFmpeg.run(["-f", "h264", "-r", "25", "-i", raw, "-c", "copy", movie])
            try #require(wrapped.status == .exited(0), "\(wrapped.messages)")
            let sent = AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(raw))
            try #require(sent.count == 125)

            // More than the 120 ms that the host waits by itself: a busy machine sends again late. What is on its way
            // when the sender ends is lost, so the pictures are sent twice.
            let address = try room.host.printed("Publishers over SRT: ") + "&latency=400000"
            var launch = Launch(
                network.prefix[0],
                network.prefix.dropFirst() + [
                    "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-re", "-stream_loop", "1", "-i", movie, "-c",
                    "copy", "-f", "mpegts", address,
                ])
            launch.standardError = .text(limit: 1 << 16)
            let sender = try ChildProcess(launch)
            defer { sender.stop(within: .zero) }
            #expect(sender.wait(within: .seconds(60)) == .exited(0), "\(sender.errorOutput?.text ?? "")")
            try room.host.waitForLog("has left screen/screen")
            #expect(try network.lostDatagrams() > 50)
            #expect(room.host.stop() == .exited(0))

            let exported = room.folder.file("room.h264")
            let export = try CommandLineRun(["screenrelay", "export", room.recording, "-o", exported])
            #expect(export.status == .exited(0), "\(export.errorOutput)")
            let received = AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(exported))
            #expect(received.count >= sent.count)
            let wrong = received.indices.first { received[$0].slices != sent[$0 % sent.count].slices }
            #expect(wrong == nil)
        }
    }
}
