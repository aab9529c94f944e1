import BrowserDriver
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// One Chromium has the presenters' link, another one the viewers'.
    @Suite("The room's door on the page", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserDoorTests {
        private func button(_ action: String) -> String {
            "document.querySelector('.door .waiting [data-action=\(action)]')"
        }

        /// Opens the list of people, which has the door.
        private func openPeople(on page: Page) throws {
            try page.waitUntil("document.getElementById('people-button')?.hidden === false")
            try page.evaluate("document.getElementById('people-button').click()")
            try page.waitUntil("document.querySelector('.door')?.checkVisibility()")
        }

        @Test(
            "a viewer waits, is seen by the owner with its name as text, is refused, asks again and then watches",
            .timeLimit(.minutes(5)))
        func waitingRoom() throws {
            let room = try PublishedRoom(["--waiting-room"])
            let ann = try PresentingPage(room)
            try ann.share("screen")
            try openPeople(on: ann.page)
            let bob = try PresentingPage(room, as: "<b>Bob</b>", link: room.link)
            let title = "document.getElementById('card-title').textContent"
            for action in ["refuse", "admit"] {
                try bob.page.waitUntil("screenRelay.phase === 'waiting'")
                #expect(try bob.page.evaluate(title).string == "You are waiting to be let in.")
                try ann.page.waitUntil("screenRelay.people.waiting.join() === '<b>Bob</b>'")
                try ann.page.waitUntil("\(button(action)) !== null")
                #expect(
                    try ann.page.evaluate("document.querySelector('.door .name').textContent").string == "<b>Bob</b>")
                try ann.page.evaluate("\(button(action)).click()")
                guard action == "refuse" else { continue }
                try bob.page.waitUntil("screenRelay.phase === 'failed'")
                #expect(try bob.page.evaluate(title).string == "You were not let in.")
                // The owner is told within a second; until then, Bob would wait under his old identifier.
                try ann.page.waitUntil("screenRelay.people.waiting.length === 0")
                try bob.page.evaluate("document.getElementById('card-action').click()")
            }
            try bob.viewer.waitUntilPlaying()
            #expect(try bob.page.evaluate("screenRelay.people.locked").string == nil)
            #expect(try bob.page.evaluate("screenRelay.reconnects").int == 0)
            try ann.page.waitUntil("screenRelay.people.waiting.length === 0")
            #expect(ann.page.consoleErrors.isEmpty, "\(ann.page.consoleErrors)")
            #expect(bob.page.consoleErrors.isEmpty, "\(bob.page.consoleErrors)")
        }

        @Test(
            "a locked room says so and opens by itself when it is unlocked; a member goes on, also under another name",
            .timeLimit(.minutes(5)))
        func lock() throws {
            let room = try PublishedRoom()
            let ann = try PresentingPage(room)
            try ann.share("screen")
            let bob = try PresentingPage(room, as: "Bob", link: room.link)
            try bob.viewer.waitUntilPlaying()
            try openPeople(on: ann.page)
            try ann.page.evaluate("document.getElementById('lock').click()")
            try ann.page.waitUntil("screenRelay.people.locked === true")
            let eve = try PresentingPage(room, as: "Eve", link: room.link)
            try eve.page.waitUntil("screenRelay.error === 'The room is locked.'")
            let chinese = try PresentingPage(
                room, as: "Wei", link: room.link.replacing("#", with: "?lang=zh#"))
            try chinese.page.waitUntil("screenRelay.error === '房间已锁定。'")

            try bob.page.evaluate("document.getElementById('people-button').click()")
            try bob.page.waitUntil("document.getElementById('own-name') !== null")
            #expect(try bob.page.evaluate("document.querySelector('.door').checkVisibility()").bool == false)
            try bob.page.evaluate("document.getElementById('own-name').value = 'Bo'")
            try bob.page.evaluate("document.querySelector('#people form').requestSubmit()")
            try ann.page.waitUntil("screenRelay.people.names.includes('Bo')")
            try bob.viewer.waitUntilPlaying()
            #expect(try eve.page.evaluate("screenRelay.phase").string != "playing")

            try ann.page.evaluate("document.getElementById('lock').click()")
            for viewer in [eve, chinese] { try viewer.viewer.waitUntilPlaying() }
            #expect(ann.page.consoleErrors.isEmpty, "\(ann.page.consoleErrors)")
            #expect(bob.page.consoleErrors.isEmpty, "\(bob.page.consoleErrors)")
        }
    }
}
