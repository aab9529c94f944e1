import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The sound of a shared desktop, on a page that may play none without a click.
    @Suite("Sound in the page", .enabled(if: EndToEnd.hasBrowser && PulseServer.isAvailable))
    struct BrowserSoundTests {
        private static let wantsClick = ["--autoplay-policy=document-user-activation-required"]
        private static let isOffered = "Boolean(document.getElementById('listen')?.checkVisibility())"
        private static let audioTracks = "document.getElementById('video').srcObject.getAudioTracks().length"

        /// A page of `link` that the browser doesn't take for one that a user has touched.
        private func open(_ link: String, in browser: Browser) throws -> ViewerPage {
            let viewer = try ViewerPage(link, in: browser)
            viewer.page.actsAsUser = false
            return viewer
        }

        private func share(from server: PulseServer) throws -> SharedDesktop {
            try SharedDesktop(
                options: ["--sound", "desktop"], prefix: ["env", "PULSE_SERVER=\(server.address)"])
        }

        /// Clicks into the middle of an element, as a user does.
        private func click(_ id: String, on page: Page) throws {
            let place = try page.evaluate(
                """
                (({ left, top, width, height }) => ({ x: left + width / 2, y: top + height / 2 }))(
                  document.getElementById('\(id)').getBoundingClientRect())
                """)
            for type in ["mousePressed", "mouseReleased"] {
                try page.send(
                    "Input.dispatchMouseEvent",
                    ["type": .string(type), "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1])
            }
        }

        /// A number of the incoming sound in the statistics of the page's first connection; 0 if there is none.
        private func soundStatistic(_ name: String, on page: Page) throws -> Double {
            try page.evaluate(
                """
                (async () => {
                  for (const entry of (await window.connections[0].getStats()).values())
                    if (entry.type === 'inbound-rtp' && entry.kind === 'audio') return entry['\(name)'] ?? 0;
                  return 0;
                })()
                """
            ).number ?? 0
        }

        @Test("is off, with a button; one click brings it, and a chart tells its lag", .timeLimit(.minutes(5)))
        func click() throws {
            let server = try PulseServer(in: TemporaryFolder())
            let player = try server.playTone()
            defer { player.stop(within: .seconds(1)) }
            let desktop = try share(from: server)
            let browser = try Browser.launch(extraFlags: Self.wantsClick)
            let viewer = try open(desktop.link, in: browser)
            let page = viewer.page
            try viewer.waitUntilPlaying()
            try page.waitUntil("screenRelay.sound === 'live'")
            try page.waitUntil(Self.isOffered)
            #expect(try page.evaluate("screenRelay.isListening").bool == false)
            try eventually("packets of sound") {
                try soundStatistic("packetsReceived", on: page) > 20 ? () : nil
            }
            try viewer.expectMotion()
            let offered = try page.evaluate("window.connections[0].localDescription.sdp.includes(';stereo=1')")
            #expect(offered.bool == true)

            let before = try soundStatistic("totalAudioEnergy", on: page)
            try click("listen", on: page)
            try page.waitUntil("screenRelay.isListening && screenRelay.audioLevel > 0.01")
            try eventually("sound that is played") {
                try soundStatistic("totalAudioEnergy", on: page) > before ? () : nil
            }
            #expect(try page.evaluate(Self.isOffered).bool == false)
            #expect(try page.evaluate("document.getElementById('speaker').ariaPressed").string == "true")
            try page.waitUntil(
                "Number(document.querySelector('#speaker .level').style.getPropertyValue('--level')) > 0.2",
                within: .seconds(5))

            try page.evaluate("document.getElementById('figures').click()")
            try page.waitUntil(
                """
                [...document.querySelectorAll('.chart')].some((one) => {
                  const [title, value] = one.querySelectorAll('p span');
                  return title.textContent === 'Sound' && /^[+−]?\\d+ ms$/.test(value.textContent);
                })
                """)
            try viewer.expectMotion()
            #expect(try viewer.reconnects() == 0)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test(
            "is remembered: on a later visit it plays where the browser allows it, and elsewhere pictures play alone",
            .timeLimit(.minutes(5)))
        func remembered() throws {
            let server = try PulseServer(in: TemporaryFolder())
            let player = try server.playTone()
            defer { player.stop(within: .seconds(1)) }
            let desktop = try share(from: server)
            // The driver's own flags allow sound without a click. How browsers decide on their own isn't tried here.
            for (flags, isAllowed) in [([], true), (Self.wantsClick, false)] as [([String], Bool)] {
                let browser = try Browser.launch(extraFlags: flags)
                let first = try open(desktop.link, in: browser)
                try first.waitUntilPlaying()
                try first.page.waitUntil(Self.isOffered)
                try click("listen", on: first.page)
                try first.page.waitUntil("screenRelay.isListening")
                first.page.close()

                let later = try open(desktop.link, in: browser)
                try later.waitUntilPlaying()
                try later.page.waitUntil(isAllowed ? "screenRelay.isListening" : Self.isOffered)
                try later.expectMotion()
                #expect(try later.page.evaluate("screenRelay.isListening").bool == isAllowed)
                #expect(try later.page.evaluate("document.getElementById('card').hidden").bool == true)
                #expect(later.page.consoleErrors.isEmpty, "\(later.page.consoleErrors)")
                browser.close()
            }
        }

        @Test("the sharer's mute and unmute are told, and nothing is heard meanwhile", .timeLimit(.minutes(5)))
        func sharersMute() throws {
            let server = try PulseServer(in: TemporaryFolder())
            let player = try server.playTone()
            defer { player.stop(within: .seconds(1)) }
            let desktop = try share(from: server)
            let browser = try Browser.launch()
            let viewer = try open(desktop.link, in: browser)
            let page = viewer.page
            try viewer.waitUntilPlaying()
            try page.waitUntil(Self.isOffered)
            try click("listen", on: page)
            try page.waitUntil("screenRelay.audioLevel > 0.01")
            let process = "\(desktop.host.child.processID)"
            let note = "document.querySelector('.sound-note').textContent"
            let isIdle = "document.getElementById('stage').classList.contains('idle')"

            try page.waitUntil(isIdle, within: .seconds(10))
            let mute = try CommandLineRun(["screenrelay", "mute", "--pid", process])
            #expect(mute.status == .exited(0), "\(mute.errorOutput)")
            try page.waitUntil("screenRelay.sound === 'muted'")
            #expect(try page.evaluate(isIdle).bool == false, "the bar, which has the note, comes back")
            #expect(try page.evaluate(note).string == "The sharer has muted the sound.")
            try page.waitUntil("screenRelay.audioLevel < 0.001")
            try viewer.expectMotion()

            let unmute = try CommandLineRun(["screenrelay", "unmute", "--pid", process])
            #expect(unmute.status == .exited(0), "\(unmute.errorOutput)")
            try page.waitUntil("screenRelay.sound === 'live' && screenRelay.audioLevel > 0.01")
            #expect(try page.evaluate(note).string == "")
            #expect(try page.evaluate("screenRelay.isListening").bool == true)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test("a share without sound has no controls of it, and loads none", .timeLimit(.minutes(5)))
        func none() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.launch()
            let viewer = try open(desktop.link, in: browser)
            let page = viewer.page
            try viewer.waitUntilPlaying()
            #expect(try page.evaluate("screenRelay.sound").string == "none")
            #expect(try page.evaluate("document.getElementById('speaker')").isNull)
            #expect(try page.evaluate(Self.audioTracks).int == 0)
            let loaded = try page.evaluate(
                "performance.getEntriesByType('resource').filter(({ name }) => name.includes('sound')).length")
            #expect(loaded.int == 0)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }
    }
}
