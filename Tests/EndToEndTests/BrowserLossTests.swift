import BrowserDriver
import MediaTypes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Each twentieth datagram of the host's is lost, in a network of the test's own.
    @Suite(
        "Loss in the sender's path",
        .enabled(if: EndToEnd.hasBrowser),
        .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
    struct BrowserLossTests {
        private static let port: UInt16 = 8189
        /// Less than the 2.5 s after which a picture comes anyway.
        private static let patience = Interval.seconds(2)

        @Test("a peer with RTX loses no picture for good", .timeLimit(.minutes(2)))
        func withRTX() throws {
            let network = try LossyNetwork(losingFrom: Self.port)
            let (desktop, browser) = try start(in: network)
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            try expectNothingLost(viewer, desktop, network)
        }

        @Test("a peer without RTX loses no picture for good", .timeLimit(.minutes(2)))
        func withoutRTX() throws {
            let network = try LossyNetwork(losingFrom: Self.port)
            let (desktop, browser) = try start(in: network)
            let player = try WHEPPlayer(desktop.link, in: browser)
            let session = try player.open(codecs: ["video/H264"])
            #expect(session["status"].int == 201)
            #expect(session["answer"].string?.contains("rtx") == false)
            try expectNothingLost(player.viewer, desktop, network)
        }

        private func start(in network: LossyNetwork) throws -> (SharedDesktop, Browser) {
            // So fast that most pictures have the next one behind them before the sender would probe: gaps show, and
            // are asked for. The end of motion is what the probes are for.
            let desktop = try SharedDesktop(
                scene: ["--fps", "60"], options: ["--fps", "60", "--udp-port", "\(Self.port)"], inside: network)
            // Its sandbox refuses root, also in a user namespace.
            return (desktop, try Browser.launch(extraFlags: ["--no-sandbox"], prefix: network.prefix))
        }

        private func expectNothingLost(
            _ viewer: ViewerPage, _ desktop: SharedDesktop, _ network: LossyNetwork
        ) throws {
            try viewer.expectMotion(by: 120, within: .seconds(30))
            // Also what was lost last comes, though nothing follows that would show the gap.
            for _ in 0..<6 {
                desktop.scene.freeze()
                let drawn = try desktop.drawnCounter()
                do {
                    try viewer.waitForCounter(past: drawn - 1, within: Self.patience)
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
            // One for each time that the scene stood still.
            #expect(freezes <= 12, "\(freezes) freezes")
            // Lost packets were asked for one by one; that a packet is lost each time it goes again, and the picture has to be
            // given up for a key frame, is rare.
            #expect(try viewer.statistic("nackCount") ?? 0 >= 3)
            let keyFrameRequests = try viewer.statistic("pliCount") ?? 0
            #expect(keyFrameRequests <= 4, "\(keyFrameRequests) requests for a key frame")
            #expect(desktop.host.occurrences(of: "can't be decoded") == 0)
        }
    }
}
