import BrowserDriver
import TestSupport
import Testing

@Suite("The browser driver", .enabled(if: Browser.Kind.allCases.allSatisfy(\.isAvailable)), .serialized)
struct BrowserDriverTests {
    @Test(
        "a page is opened, evaluated, photographed and closed", .timeLimit(.minutes(5)),
        arguments: Browser.Kind.allCases)
    func page(of kind: Browser.Kind) throws {
        let browser = try Browser.launch(kind)
        defer { browser.close() }
        let page = try browser.newPage("data:text/html,<title>hello</title><p id=p>words</p>")
        #expect(try page.evaluate("document.title") == "hello")
        #expect(try page.evaluate("({a: [1, 2.5, null, true], b: 'x'})") == ["a": [1, 2.5, .null, true], "b": "x"])
        #expect(try page.evaluate("undefined") == .null)
        #expect(try page.evaluate("new Promise(done => setTimeout(() => done(7), 20))").int == 7)
        #expect(throws: BrowserError.self) { try page.evaluate("nothing.here") }
        #expect(page.consoleErrors.isEmpty)

        try page.evaluate("setTimeout(() => { document.title = 'later'; console.error('bad', 1); }, 50)")
        #expect(try page.waitUntil("document.title == 'later'") == true)
        try eventually("the error") { try texts(page, after: .milliseconds(10)) == ["bad 1"] }
        let missed = #expect(throws: BrowserError.self) { try page.waitUntil("false", within: .milliseconds(100)) }
        // Of the last look, or of the wait: a busy browser may take too long for either.
        if let missed, case .deadlineMissed = missed {} else { Issue.record("\(String(describing: missed))") }

        try page.evaluate("setTimeout(() => { throw new Error('uncaught'); }, 0); 1")
        try eventually("the exception") {
            try texts(page, after: .milliseconds(10)).last?.contains("uncaught") == true
        }

        try page.runBeforeLoad("window.early = document.title")
        try page.navigate("data:text/html,<title>another</title>")
        #expect(try page.evaluate("[early, document.title]") == ["", "another"])

        try page.setViewport(width: 320, height: 200)
        let png = try page.screenshot()
        #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(Array(png[16..<24]) == [0, 0, 1, 64, 0, 0, 0, 200])

        let second = try browser.newPage("about:blank")
        #expect(try second.evaluate("1 + 1").int == 2)
        second.close()
        #expect(throws: BrowserError.self) { try browser.newPage("http://127.0.0.1:1/") }
    }

    /// The errors on the console, once events of `time` have been handled.
    private func texts(_ page: Page, after time: Duration) throws -> [String] {
        try page.settle(for: time)
        return page.consoleErrors.map(\.text)
    }

    @Test("a call that takes too long misses its deadline, and a closed browser is gone", .timeLimit(.minutes(5)))
    func deadline() throws {
        let browser = try Browser.launch()
        let page = try browser.newPage()
        #expect(throws: BrowserError.deadlineMissed("Runtime.evaluate")) {
            try page.evaluate("new Promise(() => {})", within: .milliseconds(100))
        }
        browser.close()
        #expect(throws: BrowserError.self) { try page.evaluate("1") }
    }

    @Test(
        "a browser that doesn't speak the protocol is an error, not a hang", .timeLimit(.minutes(5)),
        arguments: Browser.Kind.allCases)
    func notABrowser(kind: Browser.Kind) throws {
        #expect(throws: BrowserError.self) { try Browser.launch(kind, extraFlags: ["--version"]) }
    }
}
