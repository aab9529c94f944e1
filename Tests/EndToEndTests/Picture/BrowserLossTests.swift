import BrowserDriver
import MediaTypes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// One in twenty of the host's datagrams is lost, in a network of the test's own.
    @Suite(
        "Loss in the sender's path",
        .enabled(if: EndToEnd.hasBrowser),
        .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
    struct BrowserLossTests {
        private static let port: UInt16 = 8189
        /// Less than the 2.5 s after which a picture is sent anyway.
        private static let timeout = Interval.seconds(2)

        @Test("a peer with RTX loses no picture for good", .timeLimit(.minutes(5)))
        func withRTX() throws {
            let network = try LossyNetwork(losingFrom: Self.port)
            let (desktop, browser) = try start(in: network)
            let viewer = try ViewerPage(desktop.link, in: browser, checksPictures: true)
            try viewer.waitUntilPlaying()
            try expectNothingLost(viewer, desktop, network)
        }

        @Test("a peer without RTX loses no picture for good", .timeLimit(.minutes(5)))
        func withoutRTX() throws {
            let network = try LossyNetwork(losingFrom: Self.port)
            let (desktop, browser) = try start(in: network)
            let player = try WHEPPlayer(desktop.link, in: browser, checksPictures: true)
            let session = try player.open(codecs: ["video/H264"])
            #expect(session["status"].int == 201)
            #expect(session["answer"].string?.contains("rtx") == false)
            try expectNothingLost(player.viewer, desktop, network)
        }

        private func start(in network: LossyNetwork) throws -> (SharedDesktop, Browser) {
            // This is so fast that most pictures are followed by the next one before the sender would probe, so gaps
            // show and are asked for. The probes are for the end of motion.
            let desktop = try SharedDesktop(
                scene: ["--fps", "60"], options: ["--fps", "60", "--udp-port", "\(Self.port)"], inside: network)
            // Chromium's sandbox refuses to run as root, even in a user namespace.
            return (desktop, try Browser.launch(extraFlags: ["--no-sandbox"], prefix: network.prefix))
        }

        private func expectNothingLost(
            _ viewer: ViewerPage, _ desktop: SharedDesktop, _ network: LossyNetwork
        ) throws {
            try viewer.expectMotion(by: 120, within: .seconds(90))
            // What was lost last arrives, too, although nothing follows that would show the gap.
            for _ in 0..<6 {
                desktop.scene.freeze()
                let drawn = try desktop.drawnCounter()
                do {
                    try viewer.waitForCounter(past: drawn - 1, within: Self.timeout)
                } catch {
                    Issue.record(
                        "\(drawn) was drawn, \(try viewer.counter() ?? -1) is shown: \(try viewer.allStatistics())")
                    throw error
                }
                #expect(try viewer.counter() == drawn)
                desktop.scene.thaw()
                try viewer.waitForCounter(past: drawn + 40)
            }
            #expect(try network.lostDatagrams() >= 5)
            let figures = try viewer.statistics(["framesDecoded", "framesReceived", "framesDropped", "freezeCount"])
            let (decoded, received, dropped, freezes) = (figures[0], figures[1], figures[2], figures[3])
            #expect(decoded >= 100)
            #expect(received - decoded - dropped <= 3, "received \(received), decoded \(decoded), dropped \(dropped)")
            // There may be one for each time that the scene stood still.
            #expect(freezes <= 12, "\(freezes) freezes")
            // Lost packets were asked for one by one. It is rare that a packet is lost each time it is sent again, so
            // that the picture has to be given up for a key frame.
            #expect(try viewer.statistic("nackCount") ?? 0 >= 3)
            let keyFrameRequests = try viewer.statistic("pliCount") ?? 0
            #expect(keyFrameRequests <= 4, "\(keyFrameRequests) requests for a key frame")
            #expect(desktop.host.occurrences(of: "can't be decoded") == 0)
            try viewer.expectRightPictures(atLeast: 5)
        }
    }
}
