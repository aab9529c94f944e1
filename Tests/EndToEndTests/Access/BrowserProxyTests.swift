import BrowserDriver
import TestSupport
import Testing

extension EndToEndInBrowser {
    @Suite("The page behind a reverse proxy", .enabled(if: EndToEnd.hasBrowser && PythonClient.isAvailable(.debian)))
    struct BrowserProxyTests {
        @Test(
            "of a host that doesn't know its address says so, with the option, as does the log", .timeLimit(.minutes(5))
        )
        func foreign() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"), ["--log", "warning"])
            let link = try host.printedLink()
            let port = try #require(RoomLink(link)?.port)
            let proxy = try PythonClient("Network/naming_proxy", in: .debian, ["\(port)"])
            let place = "http://127.0.0.1:\(try #require(try proxy.event("listening")["port"] as? Int))"
            let fragment = try #require(link.split(separator: "#").last)
            let page = try Browser.shared().newPage("\(place)/#\(fragment)")
            try page.waitUntil("document.getElementById('card-title')?.textContent.includes('refuses pages')")
            let detail = try page.evaluate("document.getElementById('card-detail').textContent").string
            #expect(detail?.contains("--allow-origin \(place)") == true)
            let line = "warning: a page of \(place) was refused; if that is this host behind a reverse proxy, add"
            try host.waitForLog(line)
            #expect(host.occurrences(of: line) == 1)
        }
    }
}
