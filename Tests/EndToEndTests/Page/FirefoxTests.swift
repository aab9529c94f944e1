import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The page in Firefox, which as Debian installs it plays no H.264 over WebRTC: the page chooses its WebSocket.
    @Suite(
        "The page in Firefox",
        .enabled(
            if: EndToEnd.isPossible && Browser.Kind.firefox.isAvailable && ProgramLookup.path(of: "openssl") != nil))
    struct FirefoxTests {
        typealias Player = BrowserFramesTests.Player

        /// Where the page comes from. Over plain HTTP from another machine, a page has no WebCodecs.
        enum Origin: CaseIterable {
            case https, sameMachine, otherMachine
        }

        @Test(
            "shows the picture as it changes, in its colours, and says how it arrives", .timeLimit(.minutes(5)),
            arguments: Origin.allCases)
        func played(from origin: Origin) throws {
            let files = try TemporaryFolder()
            var options: [String] = []
            if origin == .https {
                let made = try MadeCertificate()
                options = try [
                    "--tls-cert", files.write("certificate.pem", made.text), "--tls-key",
                    files.write("key.pem", made.key),
                ]
            }
            let desktop = try SharedDesktop(options: options)
            let page = try Browser.launch(.firefox).newPage()
            if origin == .otherMachine { try page.runBeforeLoad(Player.mediaSource.rawValue) }
            try page.navigate(desktop.link)
            let viewer = ViewerPage(page)
            try viewer.waitUntilPlaying()
            try viewer.expectMotion(by: 30)
            expectPatches(in: try #require(try viewer.picture()), "\(origin)")

            #expect(try page.evaluate("screenRelay.isByWebSocket").bool == true)
            let isByMediaSource = try page.evaluate("document.getElementById('video').srcObject === null").bool
            #expect(isByMediaSource == (origin == .otherMachine))
            try page.waitUntil("/\\d fps · .*bit.s · 640 × 480$/.test(screenRelay.figures)")
            try page.evaluate("document.getElementById('figures').click()")
            let path = try page.waitUntil("document.querySelector('.paths p span:last-child')?.textContent")
            #expect(path.string == "WebSocket")
            let notes = try page.evaluate("document.querySelector('.paths').textContent").string ?? ""
            #expect(notes.contains("This browser can't play H.264 over WebRTC"), "\(notes)")
            #expect(try viewer.reconnects() == 0)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test(
            "plays the sound after a click", .enabled(if: PulseServer.isAvailable), .timeLimit(.minutes(5)),
            arguments: [Player.whole, .mediaSource])
        func sound(player: Player) throws {
            let shared = try PulseServer(in: TemporaryFolder())
            let tone = try shared.playTone()
            defer { tone.stop(within: .seconds(1)) }
            let desktop = try SharedDesktop(
                options: ["--sound", "desktop"], prefix: ["env", "PULSE_SERVER=\(shared.address)"])
            // A server of its own, or its sound would be shared, too.
            let speakers = try PulseServer(in: TemporaryFolder())
            let page = try Browser.launch(.firefox, prefix: ["env", "PULSE_SERVER=\(speakers.address)"]).newPage()
            page.actsAsUser = false
            try page.runBeforeLoad(player.rawValue)
            try page.navigate(desktop.link)
            let viewer = ViewerPage(page)
            try viewer.waitUntilPlaying()
            try page.waitUntil("screenRelay.sound === 'live' && document.getElementById('listen')?.checkVisibility()")
            #expect(try page.evaluate("screenRelay.isListening").bool == false)
            page.actsAsUser = true
            try page.evaluate("document.getElementById('listen').click()")
            try page.waitUntil("screenRelay.isListening && screenRelay.audioLevel > 0.3")
            try viewer.expectMotion()
            #expect(try viewer.reconnects() == 0)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }
    }
}
