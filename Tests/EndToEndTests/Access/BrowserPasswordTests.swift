import BrowserDriver
import Foundation
import MediaTypes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// A room that requires a password, in the page.
    @Suite("A password", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserPasswordTests {
        @Test("is asked for, a wrong one is said to be, and a right one is kept for the tab", .timeLimit(.minutes(5)))
        func asked() throws {
            let folder = try TemporaryFolder()
            let file = folder.file("password")
            let isWritten = FileManager.default.createFile(
                atPath: file, contents: Data("open sesame\n".utf8), attributes: [.posixPermissions: 0o600])
            try #require(isWritten)
            let desktop = try SharedDesktop(options: ["--password-file", file])
            let viewer = try ViewerPage(desktop.link, in: Browser.shared())
            let page = viewer.page
            _ = try page.waitUntil("window.screenRelay?.phase === 'locked' && document.activeElement.id === 'password'")
            #expect(try page.evaluate("document.querySelector('#prompt .problem').hidden").bool == true)
            #expect(try page.evaluate("document.getElementById('card').hidden").bool == true)

            try page.evaluate("document.getElementById('password').value = 'open barley'")
            try page.evaluate("document.querySelector('#prompt form').requestSubmit()")
            _ = try page.waitUntil(
                "screenRelay.phase === 'locked' && !document.querySelector('#prompt .problem').hidden")
            #expect(try page.evaluate("connections.every((one) => one.connectionState === 'closed')").bool == true)

            try page.evaluate("document.getElementById('password').value = 'open sesame'")
            try page.evaluate("document.querySelector('#prompt form').requestSubmit()")
            try viewer.waitUntilPlaying()
            #expect(try page.evaluate("document.getElementById('prompt').hidden").bool == true)
            try viewer.expectMotion()

            try page.evaluate("window.isOld = true; location.reload()")
            _ = try page.waitUntil("!window.isOld && window.screenRelay?.phase === 'playing'")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }
    }
}
