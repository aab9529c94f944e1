import BrowserDriver
import Foundation
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Pages that meet with camera and microphone.
    @Suite("Meetings", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserMeetingTests {
        @Test(
            "three see the screen and each other, turn a camera off and on, and one that is killed is gone within 5 s",
            .timeLimit(.minutes(5)))
        func three() throws {
            let desktop = try SharedDesktop(scene: ["--fps", "10"], options: ["--camera", "640x360@15"])
            let pages = try (0..<3).map { _ in try MeetingPage(desktop.link) }
            for page in pages { try page.viewer.waitUntilPlaying() }
            let markup = "<img src=x onerror=\"document.title='run'\">"
            try pages[2].introduce(as: markup)
            for page in pages {
                _ = try page.page.waitUntil("screenRelay.people.count === 3")
                #expect(try page.page.evaluate("screenRelay.meeting.state").string == "off")
            }

            for page in pages { try page.join() }
            for page in pages { try page.waitForOthers(2) }
            for page in pages {
                let before = try page.tiles()
                #expect(before.count == 2)
                try eventually("moving pictures of both others", within: .seconds(10)) {
                    zip(before, try page.tiles()).allSatisfy { $1.frames >= $0.frames + 10 && !$1.isBlack }
                }
                try page.viewer.expectMotion()
                #expect(page.page.consoleErrors.isEmpty, "\(page.page.consoleErrors)")
            }
            for page in pages.dropLast() {
                // One has no name, but the beginning of the ID by which rooms and remove know it.
                let names = try page.names()
                #expect(names.count == 2 && names.contains(markup))
                let guest = try #require(names.first { $0 != markup })
                let rooms = try CommandLineRun([
                    "screenrelay", "rooms", "--json", "--pid", "\(desktop.host.child.processID)",
                ]).output
                #expect(guest.hasPrefix("Guest ") && guest.count == 10)
                #expect(rooms.contains("\"id\":\"\(guest.dropFirst(6))"))
                #expect(try page.page.evaluate("document.querySelector('#meeting img, #people img')") == .null)
                #expect(try page.page.evaluate("document.title").string != "run")
            }

            // The others see that a camera was turned off, and the microphone goes on.
            try pages[0].page.evaluate("document.querySelector('.own .controls button:nth-child(2)').click()")
            _ = try pages[1].page.waitUntil(
                "screenRelay.meeting.peers.some((peer) => peer.audio && !peer.video)", within: .seconds(90))
            try pages[0].page.evaluate("document.querySelector('.own .controls button:nth-child(2)').click()")
            try pages[1].waitForOthers(2, within: .seconds(90))

            pages[2].browser.kill()
            let killed = ContinuousClock.now
            for page in pages.dropLast() {
                _ = try page.page.waitUntil("screenRelay.meeting.peers.length === 1", within: .seconds(5))
                #expect(try page.tiles().count == 1)
            }
            #expect(ContinuousClock.now - killed < .seconds(5))
            try pages[0].waitForOthers(1)

            try pages[0].page.evaluate("document.querySelector('.own .controls button:nth-child(3)').click()")
            _ = try pages[1].page.waitUntil("screenRelay.meeting.peers.length === 0", within: .seconds(5))
            #expect(try pages[0].page.evaluate("screenRelay.meeting.state").string == "off")
            for page in pages.dropLast() { #expect(try page.viewer.reconnects() == 0) }
        }

        @Test(
            "a page and a plain SkyRTC client meet, whichever came first", .enabled(if: PythonClient.isAvailable),
            .timeLimit(.minutes(5)))
        func plainClient() throws {
            let desktop = try SharedDesktop(scene: ["--fps", "10"])
            let first = try desktop.skyRTCClient()
            try first.event("joined")
            let page = try MeetingPage(desktop.link)
            try page.viewer.waitUntilPlaying()
            try page.join()
            // The page has joined later, so it makes the offer; the client sends pictures without sound.
            _ = try page.page.waitUntil("screenRelay.meeting.peers.length === 1 && screenRelay.meeting.peers[0].video")
            let you = try first.event("new_peer")["peer"] as? String
            try first.event("video") { $0["peer"] as? String == you && ($0["frames"] as? Int ?? 0) >= 5 }

            let second = try desktop.skyRTCClient()
            #expect((try second.event("joined")["connections"] as? [String])?.contains(you ?? "") == true)
            try second.event("video") { $0["peer"] as? String == you && ($0["frames"] as? Int ?? 0) >= 5 }
            _ = try page.page.waitUntil(
                "screenRelay.meeting.peers.length === 2 && screenRelay.meeting.peers.every((peer) => peer.video)")
            try page.page.evaluate("document.querySelector('.own .controls button:nth-child(3)').click()")
            for client in [first, second] {
                try client.event("remove_peer", within: .seconds(5)) { $0["peer"] as? String == you }
            }
            #expect(try page.viewer.reconnects() == 0)
        }

        @Test(
            "a page that gets no camera says why, before a click where it can know, and watching goes on",
            .timeLimit(.minutes(5)))
        func refused() throws {
            let desktop = try SharedDesktop(scene: ["--fps", "10"])
            let page = try MeetingPage(desktop.link, permission: .denied)
            try page.viewer.waitUntilPlaying()
            try page.press()
            _ = try page.page.waitUntil("screenRelay.meeting.problem === 'denied'")
            let shown = try page.page.evaluate("document.querySelector('#invitation .problem').innerText").string
            #expect(shown?.contains("You can still watch") == true)
            try page.viewer.expectMotion()

            // This is how it is if the page came over http from another machine.
            try page.page.runBeforeLoad(
                """
                Object.defineProperty(navigator, 'mediaDevices', { value: undefined });
                Object.defineProperty(window, 'isSecureContext', { value: false });
                """)
            try page.page.evaluate("window.isOld = true; location.reload()")
            _ = try page.page.waitUntil("!window.isOld && document.getElementById('meet')?.hidden === false")
            try page.viewer.waitUntilPlaying()
            for name in ["title", "aria-label"] {
                let label = try page.page.evaluate("document.getElementById('meet').getAttribute('\(name)')").string
                #expect(label == "Camera and microphone need https")
            }
            try page.page.evaluate("document.getElementById('meet').click()")
            let buttons = "[...document.querySelectorAll('#invitation .choices button')]"
            #expect(try page.page.evaluate("\(buttons).every((one) => one.disabled && one.title)").bool == true)
            let words = try page.page.evaluate("document.querySelector('#invitation .problem').innerText").string
            #expect(words?.contains("https") == true)
            try page.viewer.expectMotion()
            #expect(try page.page.evaluate("screenRelay.meeting.state").string == "off")
        }
    }
}
