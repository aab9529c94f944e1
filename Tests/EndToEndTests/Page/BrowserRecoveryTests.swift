import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The capture dies and comes back; a viewer's page stays.
    @Suite("Capture that dies", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserRecoveryTests {
        @Test("share starts capture again, and the viewer's page goes on by itself", .timeLimit(.minutes(5)))
        func shared() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let viewer = try beginWatching(desktop, in: browser)
            let first = try desktop.captureProcessID()
            kill(first, SIGKILL)
            try desktop.host.waitForLog("capture is process", count: 2)
            #expect(try desktop.captureProcessID() != first)
            try expectSamePage(viewer, goesOn: desktop)
        }

        @Test(
            "host and capture apart, in either order of starting: capture killed and started again, and the page goes on",
            .timeLimit(.minutes(5)), arguments: SharedDesktop.Order.allCases)
        func apart(order: SharedDesktop.Order) throws {
            let desktop = try SharedDesktop(apart: order)
            let browser = try Browser.shared()
            let viewer = try beginWatching(desktop, in: browser)
            let capture = try #require(desktop.capture)
            capture.child.terminate(SIGKILL)
            #expect(capture.child.wait(within: .seconds(30)) == .signaled(SIGKILL))
            let still = try viewer.waitForCounter(past: -1)
            #expect(try viewer.waitForCounter(past: -1) >= still)
            try desktop.restartCapture()
            try expectSamePage(viewer, goesOn: desktop)
        }

        @Test(
            "a capture that hangs is noticed by the page before the host gives it up, and its return as well",
            .timeLimit(.minutes(5)))
        func hang() throws {
            let desktop = try SharedDesktop(apart: .hostFirst)
            let viewer = try beginWatching(desktop, in: Browser.shared())
            // The page has been open for a moment only, but the host says that the source is never silent.
            let notice = "document.getElementById('notice')"
            try viewer.page.evaluate(
                """
                window.warnings = [];
                new MutationObserver(() => {
                  if (!\(notice).hidden) window.warnings.push(`${screenRelay.source}: ${\(notice).textContent}`);
                }).observe(\(notice), { childList: true, attributes: true }); 0
                """)
            desktop.capture?.freeze()
            try viewer.page.waitUntil("window.warnings.length > 0")
            let first = try viewer.page.evaluate("window.warnings[0]").string ?? ""
            #expect(first.hasPrefix("live: No video for "), "\(first)")
            #expect(
                try viewer.page.evaluate("document.getElementById('status').textContent").string == "Outdated")
            desktop.capture?.thaw()
            try viewer.page.waitUntil("\(notice).hidden && document.getElementById('status').textContent === 'Live'")
            try viewer.expectMotion()
        }

        // A connection that ends before the browser has shown anything of the page leaves it blank, without a script
        // that could do something about it.
        @Test(
            "a page that broke off while it was loaded reloads itself",
            .enabled(if: ProgramLookup.path(of: "python3") != nil), .timeLimit(.minutes(5)))
        func brokenOff() throws {
            let desktop = try SharedDesktop()
            let relay = try Relay(to: desktop.link, holdsFirstPage: true)
            let page = try Browser.shared().newPage()
            try page.send("Page.navigate", ["url": .string(relay.link)])
            try page.waitUntil(
                "document.readyState === 'loading' && performance.getEntriesByName('first-paint').length > 0")
            #expect(try page.evaluate("window.isOld = true; window.screenRelay === undefined").bool == true)
            try relay.breakFirstPage()
            try page.waitUntil("!window.isOld && window.screenRelay")
            try ViewerPage(page).waitUntilPlaying()
        }

        @Test(
            "a page whose WebSocket ends without a close frame goes on by another one, and its pictures don't notice",
            .enabled(if: ProgramLookup.path(of: "python3") != nil), .timeLimit(.minutes(5)))
        func socketEnds() throws {
            let desktop = try SharedDesktop()
            let relay = try Relay(to: desktop.link)
            let viewer = try beginWatching(try ViewerPage(relay.link, in: Browser.shared()))
            try relay.endWebSockets()
            try viewer.expectMotion()
            // What the host says reaches the page again.
            desktop.host.child.terminate(SIGUSR1)
            try viewer.page.waitUntil("screenRelay.source === 'paused'")
            desktop.host.child.terminate(SIGUSR1)
            try viewer.page.waitUntil("screenRelay.source === 'live'")
            try viewer.expectMotion()
            #expect(try viewer.reconnects() == 0)
            #expect(desktop.host.occurrences(of: "a viewer left") == 0)
            #expect(try viewer.page.evaluate("window.mark").string == "the same page")
        }

        @Test(
            "a page of another build, as from the browser's cache, loads itself again, and only once",
            .timeLimit(.minutes(5)))
        func otherBuild() throws {
            let desktop = try SharedDesktop()
            let page = try Browser.shared().newPage()
            try page.runBeforeLoad(
                """
                sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1;
                document.addEventListener("readystatechange", () => {
                  document.documentElement.dataset.version = "another";
                });
                """)
            try page.navigate(desktop.link)
            try page.waitUntil("location.hash && sessionStorage.loads === '2'")
            try ViewerPage(page).waitUntilPlaying()
            #expect(try page.evaluate("sessionStorage.loads").string == "2")
            #expect(try page.evaluate("document.documentElement.dataset.version").string == "another")
        }

        private func beginWatching(_ desktop: SharedDesktop, in browser: Browser) throws -> ViewerPage {
            try beginWatching(try ViewerPage(desktop.link, in: browser))
        }

        private func beginWatching(_ viewer: ViewerPage) throws -> ViewerPage {
            try viewer.waitUntilPlaying()
            try viewer.expectMotion()
            try viewer.page.evaluate("window.mark = 'the same page'")
            return viewer
        }

        private func expectSamePage(_ viewer: ViewerPage, goesOn desktop: SharedDesktop) throws {
            // Let by first what may still be on its way.
            let last = try viewer.waitForCounter(past: -1)
            try viewer.waitForCounter(past: last + 20)
            #expect(try viewer.page.evaluate("window.mark").string == "the same page")
            #expect(try viewer.page.evaluate("window.connections.length").int == 1)
            #expect(try viewer.page.evaluate("window.connections[0].connectionState").string == "connected")
            #expect(try viewer.reconnects() == 0)
            #expect(try viewer.page.evaluate("window.screenRelay.phase").string == "playing")
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }
    }
}

/// Passes connections on to a host, over TCP on this machine.
private final class Relay {
    private let child: ChildProcess
    /// The host's link, by way of the relay.
    let link: String

    /// - Parameter holdsFirstPage: stops in the middle of the first page that goes over it, until ``breakFirstPage()``.
    init(to link: String, holdsFirstPage: Bool = false) throws {
        let parts = link.split(separator: "/", omittingEmptySubsequences: false)
        let port = try #require(parts[2].split(separator: ":").last)
        var launch = Launch("python3", ["-c", Self.script, String(port), holdsFirstPage ? "20000" : "0"])
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 100)
        let child = try ChildProcess(launch)
        let own = try eventually("the relay's port") { child.output?.text.split(separator: "\n").first }
        self.child = child
        self.link = link.replacing(":\(port)/", with: ":\(own)/")
    }

    deinit { _ = child.stop(within: .zero) }

    /// Breaks the page off where it was stopped.
    func breakFirstPage() throws { try child.write(Array("break\n".utf8)) }

    /// Ends what is sent over each WebSocket to its client, in order: the client reads an end, and no reset.
    func endWebSockets() throws { try child.write(Array("end\n".utf8)) }

    private static let script = """
        import socket, sys, threading
        holds = [int(sys.argv[2])]
        broken = threading.Event()
        webSockets = []
        def copy(source, target, count):
            try:
                while count > 0 and (data := source.recv(min(count, 65536))):
                    target.sendall(data)
                    count -= len(data)
                if count == 0:
                    broken.wait()
                    target.shutdown(socket.SHUT_RDWR)
                else:
                    target.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        def serve(client):
            host = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            request = client.recv(65536)
            host.sendall(request)
            if request.startswith(b"GET /ws?"):
                webSockets.append(client)
            most = request.startswith(b"GET / ") and holds and holds.pop()
            threading.Thread(target=copy, args=(client, host, 1 << 60), daemon=True).start()
            copy(host, client, most or 1 << 60)
        def accept():
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        threading.Thread(target=accept, daemon=True).start()
        for line in sys.stdin:
            if line == "break\\n":
                broken.set()
            else:
                for client in webSockets:
                    client.shutdown(socket.SHUT_WR)
        """
}
