import BrowserDriver
import Foundation
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Chromium itself checks about one picture a second against the samples that the host sends with it, to the last
    /// bit, whatever the picture shows.
    @Suite("Pictures that the browser checks", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserCheckTests {
        private static let mediaPort: UInt16 = 8189
        /// How many pictures are checked; `Tools/soak pictures` asks for more.
        private static let count = ProcessInfo.processInfo.environment["SCREENRELAY_CHECKS"].flatMap(Int.init) ?? 4

        @Test(
            "are right while text is typed, scrolled and windows are dragged, coded by motion too",
            .timeLimit(.minutes(30)), arguments: ["typing", "scroll", "drag"])
        func work(scene: String) throws {
            let desktop = try SharedDesktop(
                scene: ["--scene", scene], size: PictureSize(width: 1280, height: 720))
            let viewer = try ViewerPage(desktop.link, in: Browser.launch(), checksPictures: true)
            try viewer.waitUntilPlaying()
            try viewer.expectRightPictures(atLeast: Self.count, within: .seconds(30 + 2 * Int64(Self.count)))
            #expect(desktop.host.occurrences(of: "can't be decoded") == 0)
        }

        @Test("are right in 4:4:4 and in 4:2:0", .timeLimit(.minutes(5)), arguments: ["444", "420"])
        func chroma(format: String) throws {
            let desktop = try SharedDesktop(options: ["--chroma", format])
            let viewer = try ViewerPage(desktop.link, in: Browser.launch(), checksPictures: true)
            try viewer.waitUntilPlaying()
            try viewer.expectRightPictures(atLeast: 3)
        }

        @Test("aren't measured unless the page asks", .timeLimit(.minutes(5)))
        func unasked() throws {
            let desktop = try SharedDesktop()
            let viewer = try ViewerPage(desktop.link, in: Browser.launch())
            try viewer.waitUntilPlaying()
            try viewer.expectMotion(by: 45)
            #expect(try viewer.page.checkedPictures() == CheckedPictures(count: 0, damage: 0))
        }

        @Test(
            "are right after an outage, with a key frame", .timeLimit(.minutes(5)),
            .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
        func keyFrame() throws {
            let network = try LossyNetwork(losingFrom: 9)
            let (desktop, viewer) = try start(in: network)
            let requests = try viewer.statistic("pliCount") ?? 0
            try network.interrupt(9, Self.mediaPort)
            try viewer.page.settle(for: .seconds(4))
            try network.restore()
            try viewer.expectMotion()
            let before = try viewer.page.checkedPictures().count
            try viewer.expectRightPictures(atLeast: before + 3)
            #expect(try viewer.statistic("pliCount") ?? 0 > requests)
            #expect(try viewer.page.evaluate("window.connections.length").int == 1)
            withExtendedLifetime(desktop) {}
        }

        @Test(
            "are right where the host re-encodes them for a slow path, at half the size in motion, and in full at rest",
            .timeLimit(.minutes(5)),
            .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
        func narrow() throws {
            let network = try LossyNetwork(
                losing: "udp sport \(Self.mediaPort) limit rate over 50 kbytes/second burst 30 kbytes")
            let (desktop, viewer) = try start(in: network, scene: "full", size: PictureSize(width: 1280, height: 720))
            try desktop.host.waitForLog("gets fewer pictures")
            let width = "document.querySelector('video').videoWidth"
            try viewer.page.waitUntil("\(width) === 640", within: .seconds(120))
            let before = try viewer.page.checkedPictures().count
            try viewer.expectRightPictures(atLeast: before + 3, within: .seconds(120))
            desktop.scene.child.terminate(SIGSTOP)
            defer { desktop.scene.child.terminate(SIGCONT) }
            try viewer.page.waitUntil("\(width) === 1280", within: .seconds(120))
        }

        private func start(
            in network: LossyNetwork, scene: String = "patches",
            size: PictureSize = PictureSize(width: 640, height: 480)
        ) throws -> (SharedDesktop, ViewerPage) {
            let desktop = try SharedDesktop(
                scene: ["--scene", scene], options: ["--udp-port", "\(Self.mediaPort)"], size: size, inside: network)
            // Chromium's sandbox refuses to run as root, even in a user namespace.
            let browser = try Browser.launch(extraFlags: ["--no-sandbox"], prefix: network.prefix)
            let viewer = try ViewerPage(desktop.link, in: browser, checksPictures: true)
            try viewer.waitUntilPlaying()
            return (desktop, viewer)
        }
    }
}
