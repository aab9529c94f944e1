import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The network between a viewer and the host is down for a while, in a network of the test's own.
    @Suite(
        "Outages",
        .enabled(if: EndToEnd.hasBrowser),
        .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
    struct BrowserOutageTests {
        private static let port: UInt16 = 8080
        private static let mediaPort: UInt16 = 8189

        @Test(
            "a page whose WebSocket is dead goes on by another one, while its pictures don't notice",
            .timeLimit(.minutes(5)))
        func deadSocket() throws {
            let (network, desktop, viewer) = try start()
            #expect(try network.cutConnections(to: Self.port) > 0)
            try viewer.expectMotion()
            try viewer.page.waitUntil("window.sockets.length > 1 && window.sockets.at(-1).readyState === 1")
            // What the host says reaches the page again.
            desktop.host.child.terminate(SIGUSR1)
            try viewer.page.waitUntil("screenRelay.source === 'paused'")
            desktop.host.child.terminate(SIGUSR1)
            try viewer.page.waitUntil("screenRelay.source === 'live'")
            try viewer.expectMotion()
            try expectSameVisit(viewer, of: desktop)
        }

        @Test(
            "an outage is said over the picture that stands, and the picture goes on after it", .timeLimit(.minutes(5)))
        func outage() throws {
            let (network, desktop, viewer) = try start()
            try network.interrupt(Self.port, Self.mediaPort)
            try viewer.page.waitUntil("document.getElementById('status').textContent !== 'Live'")
            // The browser gives the connection up then, and the page tries to get another.
            try viewer.page.waitUntil("screenRelay.phase === 'reconnecting'", within: .seconds(120))
            try network.restore()
            try viewer.page.waitUntil(
                "screenRelay.phase === 'playing' && document.getElementById('status').textContent === 'Live'")
            try viewer.expectMotion()
            #expect(try viewer.page.evaluate("window.mark").string == "the same page")
            #expect(desktop.host.child.poll() == nil)
        }

        private func start() throws -> (LossyNetwork, SharedDesktop, ViewerPage) {
            let network = try LossyNetwork(losingFrom: 9)
            let desktop = try SharedDesktop(
                options: ["--listen", "127.0.0.1:\(Self.port)", "--udp-port", "\(Self.mediaPort)"],
                inside: network)
            // Chromium's sandbox refuses to run as root, even in a user namespace.
            let browser = try Browser.launch(extraFlags: ["--no-sandbox"], prefix: network.prefix)
            let page = try browser.newPage("about:blank")
            try page.runBeforeLoad(Self.observer)
            try page.navigate(desktop.link)
            let viewer = ViewerPage(page)
            try viewer.waitUntilPlaying()
            // On a busy machine WebRTC may take longer than the page waits before it takes the WebSocket.
            try viewer.page.waitUntil("!screenRelay.isByWebSocket")
            try viewer.expectMotion()
            try viewer.page.evaluate("window.mark = 'the same page'")
            return (network, desktop, viewer)
        }

        /// Keeps the page's WebSockets where the test can find them.
        private static let observer = """
            window.sockets = [];
            window.WebSocket = new Proxy(window.WebSocket, {
              construct(target, values) {
                const made = new target(...values);
                window.sockets.push(made);
                return made;
              }
            });
            """

        private func expectSameVisit(_ viewer: ViewerPage, of desktop: SharedDesktop) throws {
            #expect(try viewer.reconnects() == 0)
            #expect(try viewer.page.evaluate("window.mark").string == "the same page")
            #expect(desktop.host.occurrences(of: "a viewer came") == 1)
            #expect(desktop.host.occurrences(of: "a viewer left") == 0)
        }
    }
}
