import BrowserDriver
import Glibc
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The page in frames of other origins, and its invite link.
    @Suite("Embedding", .enabled(if: EndToEnd.hasBrowser && PythonClient.isAvailable(.debian)))
    struct BrowserEmbeddingTests {
        private let folder: TemporaryFolder
        private let site: PythonClient
        private let port: Int

        /// A site of two origins.
        init() throws {
            let folder = try TemporaryFolder()
            let site = try PythonClient("Network/pages", in: .debian, [folder.path])
            let port = try #require(try site.event("listening")["port"] as? Int)
            self.folder = folder
            self.site = site
            self.port = port
        }

        private var allowed: String { "http://127.0.0.1:\(port)" }
        private var other: String { "http://localhost:\(port)" }

        /// Writes the site's pages: one with the element and a strict policy, and one with a plain frame.
        private func writePages(for link: String) throws {
            let host = try #require(link.firstIndex(of: "#").map { String(link[..<$0].dropLast()) })
            let element = """
                <!doctype html>
                <meta charset="utf-8">
                <meta http-equiv="Content-Security-Policy"
                  content="default-src 'none'; img-src 'self'; script-src 'self' \(host); frame-src \(host)">
                <title>A page with the element</title>
                <script src="events.js"></script>
                <script type="module" src="\(host)/embed.js"></script>
                <screen-relay src="\(link)"></screen-relay>
                """
            let frame = """
                <!doctype html>
                <meta charset="utf-8">
                <title>A page with a frame</title>
                <script src="events.js"></script>
                <iframe src="\(link)" allow="autoplay; fullscreen"></iframe>
                """
            let events = """
                window.heard = [];
                window.addEventListener("message", ({ data }) => heard.push({ type: "message", data }));
                document.addEventListener("DOMContentLoaded", () => {
                  const element = document.querySelector("screen-relay");
                  for (const type of ["state", "playing", "ended"]) {
                    element?.addEventListener(type, ({ detail }) => heard.push({ type, ...detail }));
                  }
                });
                """
            try folder.write("element.html", Array(element.utf8))
            try folder.write("frame.html", Array(frame.utf8))
            try folder.write("events.js", Array(events.utf8))
        }

        /// Evaluates an expression in the document of the page's only frame, isolated from the document's own scripts.
        private func evaluateInFrame(_ expression: String, of page: Page) throws -> JSONValue {
            let frame = try page.send("Page.getFrameTree")["frameTree"]["childFrames"][0]["frame"]["id"]
            let world = try page.send("Page.createIsolatedWorld", ["frameId": frame])["executionContextId"]
            let result = try page.send(
                "Runtime.evaluate",
                ["expression": .string(expression), "contextId": world, "returnByValue": true])
            return result["result"]["value"]
        }

        private func counter(inFrameOf page: Page) throws -> Int? {
            let value = try evaluateInFrame(ViewerPage.pictureExpression(columns: 320), of: page)
            return ViewerPage.picture(value).flatMap(PatchScene.counterValue(in:))
        }

        private func expectMotion(inFrameOf page: Page) throws {
            let before = try eventually("a counter in the frame") { try counter(inFrameOf: page) }
            try eventually("motion in the frame", holds: { (try counter(inFrameOf: page) ?? 0) >= before + 5 })
        }

        @Test(
            "a page of an allowed origin shows the moving screen with the element, and gets its events",
            .timeLimit(.minutes(5)))
        func element() throws {
            let desktop = try SharedDesktop(options: ["--embed-in", allowed, "--presenters"])
            let presentersLink = try desktop.host.printed("Presenters: ")
            try writePages(for: presentersLink)
            let browser = try Browser.shared()
            let page = try browser.newPage("\(allowed)/element.html")
            try page.waitUntil("heard.some(({ type }) => type === 'playing')")
            let size = "(({ width, height }) => `${width}x${height}`)(heard.find(({ type }) => type === 'playing'))"
            #expect(try page.evaluate(size).string == "640x480")
            let element = "document.querySelector('screen-relay')"
            let box = "(({ width, height }) => width / height)(\(element).getBoundingClientRect())"
            let ratio = try #require(try page.evaluate(box).number)
            #expect(abs(ratio - 16.0 / 9) < 0.01)
            #expect(try page.evaluate("\(element).clientWidth === document.body.clientWidth").bool == true)
            try expectMotion(inFrameOf: page)
            let whole = try evaluateInFrame(ViewerPage.pictureExpression(columns: 4096), of: page)
            expectPatches(in: try #require(ViewerPage.picture(whole)), "the picture in the frame")

            // In its own window, the page with this link has controls that are missing in the frame.
            let ids = ["meet", "present", "copy-link"]
            let controls = "\(ids).filter((id) => document.getElementById(id)).join()"
            let window = try browser.newPage(presentersLink)
            try window.waitUntil("\(controls) === '\(ids.joined(separator: ","))'")
            #expect(try evaluateInFrame(controls, of: page).string == "")
            let laser = "document.querySelector('#bar [title^=\"Laser pointer\"]').hidden"
            try window.waitUntil("!\(laser)")
            #expect(try evaluateInFrame(laser, of: page) == true)

            #expect(desktop.host.stop() == .exited(0))
            try page.waitUntil("heard.some(({ type }) => type === 'ended')")
            #expect(try page.evaluate("\(element).status.state").string == "ended")
            let blocked = page.consoleErrors.filter { $0.text.contains("Content Security Policy") }
            #expect(blocked.isEmpty, "\(blocked)")
        }

        @Test(
            "a page without the element shows the moving screen in a plain frame, and can read its messages",
            .timeLimit(.minutes(5)))
        func frame() throws {
            let desktop = try SharedDesktop(options: ["--embed-in", other, "--embed-in", allowed])
            try writePages(for: desktop.link)
            let page = try Browser.shared().newPage("\(allowed)/frame.html")
            let told = "heard.map(({ data }) => Object.entries(data?.screenRelay ?? {}).join())"
            try page.waitUntil("\(told).includes('state,playing,source,live,width,640,height,480')")
            try expectMotion(inFrameOf: page)
        }

        @Test("other pages can neither show the page nor load the element", .timeLimit(.minutes(5)))
        func refused() throws {
            let browser = try Browser.shared()
            for (options, origin) in [([], allowed), (["--embed-in", allowed], other)] {
                let desktop = try SharedDesktop(options: options)
                try writePages(for: desktop.link)
                let page = try browser.newPage("\(origin)/element.html")
                #expect(try page.evaluate("customElements.get('screen-relay') === undefined").bool == true)
                try page.navigate("\(origin)/frame.html")
                try eventually(
                    "the browser's refusal",
                    holds: {
                        try page.settle(for: .milliseconds(40))
                        return page.consoleErrors.contains { $0.text.contains("frame-ancestors") }
                    })
                #expect(try page.evaluate("heard.length").int == 0)
                #expect(desktop.host.occurrences(of: "a viewer came") == 0)
            }
        }

        @Test(
            "the page copies its link, and shows it as a QR code that another program reads",
            .enabled(if: access("/usr/bin/zbarimg", X_OK) == 0), .timeLimit(.minutes(5)))
        func inviteLink() throws {
            let desktop = try SharedDesktop(options: ["--presenters"])
            let viewer = try ViewerPage(desktop.link, in: Browser.shared())
            let page = viewer.page
            try viewer.waitUntilPlaying()
            try page.waitUntil("document.getElementById('people-button')?.hidden === false")
            try page.evaluate("document.getElementById('people-button').click()")
            try page.waitUntil("document.getElementById('invite-link')?.value === '\(desktop.link)'")
            // A headless browser has no clipboard that another program could read.
            try page.evaluate(
                """
                Object.defineProperty(navigator.clipboard, 'writeText', {
                  value: async (text) => { window.copied = text; } });
                document.getElementById('copy-link').click()
                """)
            try page.waitUntil("document.querySelector('.inviting [role=status]').textContent.includes('copied')")
            #expect(try page.evaluate("window.copied").string == desktop.link)

            try page.evaluate("document.getElementById('show-code').click()")
            try page.waitUntil("document.querySelector('#code svg')?.checkVisibility()")
            try page.evaluate("document.getElementById('code').scrollIntoView()")
            let file = try folder.write("page.png", page.screenshot())
            var launch = Launch("/usr/bin/zbarimg", ["-q", "--raw", file])
            launch.standardOutput = .text(limit: 1 << 16)
            #expect(try ChildProcess.run(launch, within: .seconds(90)).output == desktop.link + "\n")
            try page.evaluate("document.getElementById('show-code').click()")
            #expect(try page.evaluate("document.getElementById('code').hidden").bool == true)

            // The presenters' link lets others present, and the page says so.
            let presents = "document.querySelector('.inviting .note').textContent.includes('others can share')"
            #expect(try page.evaluate(presents).bool == false)
            let presentersLink = try desktop.host.printed("Presenters: ")
            try page.evaluate("location.href = '\(presentersLink)'")
            try page.waitUntil(presents)
            #expect(try page.evaluate("document.getElementById('invite-link').value").string == presentersLink)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }
    }
}
