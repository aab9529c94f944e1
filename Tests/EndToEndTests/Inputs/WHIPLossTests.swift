import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Publishers behind a path that loses datagrams both ways: what the recording has of their pictures.
    @Suite(
        "WHIP over a lossy path",
        .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable && FFmpeg.isAvailable),
        .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
    struct WHIPLossTests {
        @Test(
            "what aiortc and FFmpeg lose is repaired: all but a few of their pictures arrive", .timeLimit(.minutes(5)),
            arguments: ["whip_publisher", "whip_ffmpeg"], [50, 20])
        func repaired(client: String, oneIn: Int) throws {
            let network = try LossyNetwork(losingOneIn: oneIn)
            let room = try PublishedRoom(isRecorded: true, inside: network)
            let publisher = try PythonClient(
                client, in: .rtc,
                [room.address + "/whip/screen", room.token, "--size", "640x480", "--tone", "440", "--announce", "125"],
                prefix: network.prefix)
            try publisher.event("published")
            try publisher.tell("leave")
            let sent = try #require(try publisher.event("left")["count"] as? Int)
            #expect(try network.lostDatagrams() >= 5)
            #expect(room.host.stop() == .exited(0))

            let exported = room.folder.file("room.mkv")
            let export = try CommandLineRun(["screenrelay", "export", room.recording, "-o", exported])
            #expect(export.status == .exited(0), "\(export.errorOutput)")
            let pictures = try FFmpeg.decode(exported, to: "gray").bytes.count / (640 * 480)
            #expect(pictures >= sent * 95 / 100, "\(pictures) of \(sent)")
        }
    }
}
