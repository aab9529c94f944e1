import H264
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite(
        "A player over UDP whose path loses packets",
        .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable),
        .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
    struct LossyPlayers {
        @Test("gets key frames by its reports, though it asks for none")
        func recovers() throws {
            // The host's RTP: each fiftieth of the datagrams that are as long as those of a picture. Of random ones,
            // none may be lost.
            let network = try LossyNetwork(
                losing: "ip saddr 127.0.0.1 meta l4proto udp udp length \\> 600 numgen inc mod 50 == 7")
            // FFmpeg reports once in 280 kB, so there must be some motion.
            let desktop = try SharedDesktop(
                scene: ["--scene", "full"], options: ["--rtsp", "0", "--open"], inside: network)
            let begin = "Players of RTSP: "
            let line = try #require(desktop.host.output.split(separator: "\n").first { $0.hasPrefix(begin) })
            let folder = try TemporaryFolder()
            let raw = folder.file("played.264")
            var launch = Launch(
                network.prefix[0],
                network.prefix.dropFirst() + [
                    "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-rtsp_transport", "udp", "-fpsprobesize", "0",
                    "-i", String(line.dropFirst(begin.count)), "-t", "9", "-c", "copy", "-f", "h264", raw,
                ])
            launch.standardError = .text(limit: 1 << 20)
            let player = try ChildProcess(launch)
            defer { player.stop(within: .zero) }
            #expect(player.wait(within: .seconds(25)) == .exited(0))
            let frames = AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(raw))
            #expect(try network.lostDatagrams() > 0)
            // Its first one, the second one of all players, and those by its reports, 2 s apart and then 4 s. Of a key
            // frame, too, a part may be lost.
            let keyFrames = frames.count { $0.isRandomAccess }
            #expect((3...6).contains(keyFrames), "\(keyFrames) of \(frames.count)")
        }
    }
}
