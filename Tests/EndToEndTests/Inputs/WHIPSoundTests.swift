import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// Publishers send a tone beside their pictures, and it is measured at each way out.
    @Suite(
        "The sound of WHIP publishers",
        .enabled(if: EndToEnd.hasBrowser && PythonClient.isAvailable && FFmpeg.isAvailable))
    struct WHIPSoundTests {
        private func start(_ client: String, in room: PublishedRoom, track: String = "") throws -> PythonClient {
            let publisher = try PythonClient(
                client, in: client == "whip_gstreamer" ? .debian : .rtc,
                [room.address + "/whip/screen" + track, room.token, "--tone", "440"])
            try publisher.event("connected")
            return publisher
        }

        @Test(
            "is heard beside the pictures on the page, by a WHEP player, by RTSP and in the recording",
            .timeLimit(.minutes(5)),
            arguments: ["whip_publisher", "whip_ffmpeg"] + (PythonClient.hasGStreamer ? ["whip_gstreamer"] : []))
        func heard(client: String) throws {
            let room = try PublishedRoom(["--rtsp", "0"], isRecorded: true)
            let publisher = try start(client, in: room)

            let heard = room.folder.file("player.pcm")
            let player = try PythonClient(
                "whep_player", in: .rtc, ["\(room.address)/whep/screen", "--token", room.token, "--sound", heard])
            try player.event("frame")

            let browser = try Browser.shared()
            let viewer = try ViewerPage(room.link, in: browser)
            try viewer.waitUntilPlaying()
            try viewer.waitForTone()
            try room.waitForTone(in: heard)
            try room.expectPlayed(room.host.printed("Players of RTSP: "), over: "tcp")

            try publisher.tell("leave")
            try publisher.event("left")
            try room.expectRecorded()
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }

        @Test("is in a recording of its own, where the publisher has a track of its own", .timeLimit(.minutes(5)))
        func recordedApart() throws {
            let room = try PublishedRoom(isRecorded: true)
            let publisher = try start("whip_publisher", in: room, track: "/camera")
            let heard = room.folder.file("player.pcm")
            let words = ["\(room.address)/whep/screen?track=camera", "--token", room.token, "--sound", heard]
            let player = try PythonClient("whep_player", in: .rtc, words)
            try player.event("frame")
            try room.waitForTone(in: heard)
            let process = ["--pid", "\(room.host.child.processID)"]
            let status = try CommandLineRun(["screenrelay", "status", "--json"] + process).output
            let path = try #require(status.firstMatch(of: /"path":"([^"]*room-screen-camera-[^"]*)"/)).output.1
            try publisher.tell("leave")
            try publisher.event("left")
            try room.expectRecorded(in: String(path))
        }
    }
}
