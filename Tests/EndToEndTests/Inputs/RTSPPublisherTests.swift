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
            "reach RTSP players and recordings with video and audio", .timeLimit(.minutes(5)),
            arguments: ["tcp", "udp"])
        func published(transport: String) throws {
            let sender = try room.publish(
                ["-tune", "zerolatency"],
                to: ["-f", "rtsp", "-rtsp_transport", transport, try room.printed("Publishers over RTSP: ")])
            defer { sender.stop(within: .zero) }
            try room.host.waitForLog("which is converted to Opus")
            try room.host.waitForLog("sends H.264 of 320x240")
            #expect(room.host.occurrences(of: "which is re-encoded") == 0)
            try room.expectPlayedAndRecorded(sender, over: transport)
        }
    }
}
