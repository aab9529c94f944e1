import BrowserDriver
import Foundation
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// What a page says and shows when there is nothing left to watch.
    @Suite("A share that is over", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserEndingTests {
        /// Whether anything of the shared screen is still visible.
        private static let hasPicture = """
            [...document.querySelectorAll('#video, #tracks video')].some((video) => video.videoWidth > 0)
              || !document.getElementById('held').hidden || document.getElementById('held').width > 0
            """
        /// The text of the card and of its button; empty while it isn't shown.
        private static let card = """
            (() => {
              const shown = (id) => document.getElementById(id).hidden ? '' : document.getElementById(id).textContent;
              return document.getElementById('card').hidden ? ''
                : ['card-title', 'card-detail', 'card-action'].map(shown).join('|');
            })()
            """

        private func playing(_ desktop: SharedDesktop, in browser: Browser) throws -> ViewerPage {
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            try viewer.waitForCounter(past: -1)
            guard try viewer.page.evaluate(Self.hasPicture).bool == true else {
                throw NotPlaying(state: "no picture", text: "", console: [])
            }
            return viewer
        }

        @Test(
            "after stop the page says that sharing has ended, for as long as it has, and shows nothing of it",
            .timeLimit(.minutes(5)))
        func stop() throws {
            let folder = try TemporaryFolder()
            let desktop = try SharedDesktop(
                apart: .hostFirst,
                hostOptions: [
                    "--listen", "127.0.0.1:\(try freePort())", "--token-file", folder.file("token"),
                ])
            let viewer = try playing(desktop, in: Browser.shared())
            let page = viewer.page
            try page.evaluate(
                """
                window.titles = new Set();
                new MutationObserver(() => window.titles.add(document.getElementById('card-title').textContent))
                  .observe(document.getElementById('card-title'), { childList: true });
                window.WebSocket = class extends window.WebSocket {
                  constructor(...values) {
                    super(...values);
                    window.attempts = (window.attempts ?? 0) + 1;
                  }
                }; 0
                """)
            desktop.host.stop()
            try page.waitUntil("\(Self.card).startsWith('Sharing has ended.')")
            // The page checks several times whether somebody shares again, and still says that sharing has ended.
            try page.waitUntil("window.attempts >= 4")
            #expect(
                try page.evaluate(Self.card).string
                    == "Sharing has ended.|If it starts again, it will appear here.|Try again")
            #expect(try page.evaluate("[...window.titles].join('|')").string == "Sharing has ended.")
            #expect(try page.evaluate("screenRelay.phase").string == "ended")
            #expect(try page.evaluate("document.getElementById('status').textContent").string == "Ended")
            #expect(try page.evaluate(Self.hasPicture).bool == false)

            // If asked to, it checks at once, and then says what it has found.
            try page.evaluate("window.attempts = 0; document.getElementById('card-action').click()")
            try page.waitUntil("window.attempts >= 1 && \(Self.card).startsWith('Sharing has ended.')")

            // If somebody shares again, it comes back by itself.
            try desktop.restartHost()
            try viewer.waitUntilPlaying()
            try viewer.expectMotion()
        }

        @Test("who is removed is told so, and is not asked to try again", .timeLimit(.minutes(5)))
        func removed() throws {
            let desktop = try SharedDesktop()
            let viewer = try playing(desktop, in: Browser.shared())
            let process = "\(desktop.host.child.processID)"
            let listed = try CommandLineRun(["screenrelay", "rooms", "--json", "--pid", process])
            let rooms = try JSONDecoder().decode(JSONValue.self, from: Data(listed.output.utf8))
            let id = try #require(rooms["rooms"][0]["members"][0]["id"].string)
            let run = try CommandLineRun(["screenrelay", "remove", id, "--pid", process])
            #expect(run.status == .exited(0), "\(run.errorOutput)")
            try viewer.page.waitUntil("screenRelay.phase === 'failed'")
            #expect(
                try viewer.page.evaluate(Self.card).string
                    == "You were removed by the person sharing.|Ask them if you want to rejoin.|"
            )
            #expect(try viewer.page.evaluate(Self.hasPicture).bool == false)
            #expect(try viewer.page.evaluate("document.getElementById('people-button').hidden").bool == true)
        }

        @Test("who watches while the link expires is told so, and where to get another", .timeLimit(.minutes(5)))
        func expiry() throws {
            let browser = try Browser.shared()
            // A busy machine may not show a picture within the shortest time.
            for seconds in [5, 10, 20, 40] {
                let desktop = try SharedDesktop(options: ["--expires", "\(seconds)s"])
                defer { desktop.stop() }
                guard let viewer = try? playing(desktop, in: browser) else { continue }
                try viewer.page.waitUntil("screenRelay.phase === 'failed'", within: .seconds(seconds + 10))
                #expect(
                    try viewer.page.evaluate(Self.card).string
                        == "This invite link has expired.|Ask the person sharing for a new invite link.|")
                #expect(try viewer.page.evaluate(Self.hasPicture).bool == false)

                // A viewer who comes now learns no more than anybody with a wrong link.
                let late = try ViewerPage(desktop.link, in: browser)
                try late.page.waitUntil("window.screenRelay?.phase === 'failed'")
                let words = try late.page.evaluate(Self.card).string
                #expect(
                    words?.hasPrefix("This invite link does not work.|It may have expired") == true, "\(words ?? "")")
                return
            }
            Issue.record("no link was good for a picture, not even for 40 s")
        }
    }
}
