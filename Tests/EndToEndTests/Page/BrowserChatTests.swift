import BrowserDriver
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Viewers in two browsers who write to each other.
    @Suite("The chat", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserChatTests {
        private static let button = "document.getElementById('chat-button')"
        private static let count = "\(button).querySelector('.count').textContent"
        /// The texts of the messages, as text.
        private static let texts = "[...document.querySelectorAll('#chat [role=log] p[dir]')].map((p) => p.textContent)"

        /// Opens a page in a browser of its own, as a user called `name`.
        private func viewer(_ link: String, as name: String) throws -> Page {
            let page = try Browser.shared().newPage("about:blank")
            try page.runBeforeLoad("try { localStorage.setItem('screenrelay.name', '\(name)'); } catch {}")
            try page.navigate(link)
            try ViewerPage(page).waitUntilPlaying()
            try page.waitUntil("\(Self.button)?.hidden === false")
            return page
        }

        /// Presses a key where the focus is.
        private func press(_ key: String, _ text: String, on page: Page) throws {
            for type in ["keyDown", "keyUp"] {
                try page.send(
                    "Input.dispatchKeyEvent", ["type": .string(type), "key": .string(key), "text": .string(text)])
            }
        }

        private func openChat(_ page: Page) throws {
            try press("h", "h", on: page)
            try page.waitUntil("document.activeElement?.id === 'chat-text'")
        }

        private func write(_ text: String, on page: Page) throws {
            try page.send("Input.insertText", ["text": .string(text)])
            try press("Enter", "\r", on: page)
            try page.waitUntil("document.getElementById('chat-text').value === ''")
        }

        private func hasPart(_ page: Page) throws -> Bool {
            try page.evaluate(
                "performance.getEntriesByType('resource').some((one) => one.name.endsWith('/chat/chat.js'))"
            ).isTruthy
        }

        @Test(
            "what one page writes is counted on the other and read as text, on a phone too, until it is forbidden",
            .timeLimit(.minutes(5)))
        func messages() throws {
            let desktop = try SharedDesktop(scene: ["--fps", "10"])
            let (ann, bob) = (try viewer(desktop.link, as: "<i>Ann</i>"), try viewer(desktop.link, as: "Bob"))
            try openChat(ann)
            // The key that opened it is no text.
            #expect(try ann.evaluate("document.getElementById('chat-text').value").string == "")
            try write("<b>x</b>", on: ann)
            try ann.waitUntil("\(Self.texts).join() === '<b>x</b>'")
            try bob.waitUntil("\(Self.count) === '1'")
            #expect(try bob.evaluate("\(Self.button).title").string == "Chat: 1 unread message")
            #expect(try !hasPart(bob))

            // The screen of a phone, beside which nothing is.
            try bob.send(
                "Emulation.setDeviceMetricsOverride",
                ["width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true])
            try openChat(bob)
            try bob.waitUntil("\(Self.texts).join() === '<b>x</b>'")
            #expect(try bob.evaluate("document.querySelector('#chat b, #chat i') === null") == true)
            #expect(
                try bob.evaluate("document.querySelector('#chat [role=log]').textContent.startsWith('<i>Ann</i>')")
                    == true)
            #expect(try bob.evaluate("\(Self.count)").string == "")
            let isInside = """
                (() => {
                  const { left, right, top, bottom } = document.getElementById('chat').getBoundingClientRect();
                  return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
                    && document.documentElement.scrollWidth <= innerWidth;
                })()
                """
            #expect(try bob.evaluate(isInside) == true)
            for number in 1...3 { try write("reply \(number)", on: bob) }
            try ann.waitUntil("\(Self.texts).join() === '<b>x</b>,reply 1,reply 2,reply 3'")
            #expect(try bob.evaluate(isInside) == true)
            try press("Escape", "", on: ann)
            try ann.waitUntil("document.getElementById('chat').hidden")

            let process = ["--pid", "\(desktop.host.child.processID)"]
            let run = try CommandLineRun(["screenrelay", "chat", "off"] + process)
            #expect(run.status == .exited(0) && run.output == "chat off\n", "\(run.errorOutput)")
            for page in [ann, bob] {
                try page.waitUntil("\(Self.button).hidden && document.getElementById('chat').hidden")
                #expect(try page.evaluate("\(Self.texts).length").int == 0)
                #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
            }
        }
    }
}
