import BrowserDriver
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The parts of the page that can't be judged without a browser, each imported by itself. Those that can are in
    /// `Tests/ViewerTests/page`.
    @Suite("The page's parts", .enabled(if: EndToEnd.hasBrowser))
    struct PageLogicTests {
        /// Runs each body in a page of a host without a capture, with its module imported as `it`; it has to return
        /// true.
        private func inPage(_ cases: [(what: String, module: String, body: String)]) throws {
            let folder = try TemporaryFolder()
            let address = "unix:" + folder.file("s.sock")
            let host = try RunningProgram.host(address)
            let browser = try Browser.shared()
            let page = try browser.newPage(try host.printedLink())
            for one in cases {
                let result = try page.evaluate(
                    "import('/\(one.module).js').then((it) => { \(one.body) }).then(JSON.stringify)")
                #expect(result.string == "true", "\(one.module): \(one.what)")
            }
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test("the page comes in one answer, compressed to what two flights of packets carry", .timeLimit(.minutes(5)))
        func onePiece() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
            let browser = try Browser.shared()
            let page = try browser.newPage(try host.printedLink())
            let loaded = try page.evaluate(
                "performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname).join()")
            #expect(["", "/favicon.svg"].contains(loaded.string))
            let size = try page.evaluate("performance.getEntriesByType('navigation')[0].transferSize")
            // RFC 6928 section 2, and twice as much: 30 segments of 1,460 bytes.
            #expect(try #require(size.int) < 43_800)
            #expect(try page.evaluate("typeof window.screenRelay").string == "object")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test("holds for sound, relays, and pictures and sound over the WebSocket", .timeLimit(.minutes(5)))
        func modules() throws {
            try inPage(Self.sound + Self.relays + Self.frames)
        }
    }
}
