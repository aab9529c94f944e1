import BrowserDriver
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// What `screenrelay host --source` reads, in the page.
    @Suite("A source in the page", .enabled(if: EndToEnd.hasBrowser && RTSPToneServer.isAvailable))
    struct BrowserSourceTests {
        @Test("an RTSP server's pictures are seen, and its PCMU is heard", .timeLimit(.minutes(5)))
        func rtsp() throws {
            let server = try RTSPToneServer(port: freePort())
            defer { server.stop() }
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:\(folder.file("link.sock"))", ["--source", server.url])
            let viewer = try ViewerPage(host.printedLink(), in: Browser.shared())
            let page = viewer.page
            try viewer.waitUntilPlaying(within: .seconds(90))
            let first = try #require(try viewer.picture())
            #expect(first.width == 320 && first.height == 240)
            // The ball of noise in a corner is another one in each picture.
            try eventually("another picture") { try viewer.picture().map { $0.bytes != first.bytes } == true }

            try page.waitUntil("document.getElementById('listen')?.checkVisibility()")
            try page.evaluate("document.getElementById('listen').click()")
            try page.waitUntil("screenRelay.isListening && screenRelay.audioLevel > 0.01")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }
    }
}
