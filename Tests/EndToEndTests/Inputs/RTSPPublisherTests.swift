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
            let sender = try PublishedRoom.publish(
                ["-tune", "zerolatency"],
                to: ["-f", "rtsp", "-rtsp_transport", transport, try room.host.printed("Publishers over RTSP: ")])
            defer { sender.stop(within: .zero) }
            try room.host.waitForLog("which is converted to Opus")
            try room.host.waitForLog("sends H.264 of 320x240")
            #expect(room.host.occurrences(of: "which is re-encoded") == 0)
            try room.expectPlayedAndRecorded(sender, over: transport)
        }

        @Test("are told how to publish only with --presenters")
        func quiet() throws {
            let host = try RunningProgram("screenrelay", ["host", "--rtsp", "0"] + LinkSocket.hostOptions)
            try eventually("the players' URL") { host.output.contains("Players of RTSP: ") }
            #expect(host.stop() == .exited(0))
            #expect(!host.output.contains("Publishers over RTSP") && !host.output.contains("presenter:"))
        }
    }
}
