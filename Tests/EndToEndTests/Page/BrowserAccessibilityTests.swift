import BrowserDriver
import Foundation
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Checks the page with axe-core, whose rules most accessibility checkers use.
    @Suite("The page for everyone", .enabled(if: EndToEnd.hasBrowser && AccessibilityRules.areThere))
    struct BrowserAccessibilityTests {
        @Test(
            "no rule is broken while it waits, plays, shows charts or keys and is refused, light and dark",
            .timeLimit(.minutes(5)))
        func rules() throws {
            let folder = try TemporaryFolder()
            let address = "unix:" + folder.file("s.sock")
            let waiting = try RunningProgram.host(address)
            let desktop = try SharedDesktop(options: ["--presenters"])
            let browser = try Browser.launch()
            let page = try browser.newPage()
            let axe = try AccessibilityRules.script()

            let waitingLink = try waiting.printedLink()
            try look(at: waitingLink, when: "screenRelay.source === 'waiting'", on: page, axe, "waiting")
            let refused = waitingLink.split(separator: ",")[0] + ",WRONG"
            try look(at: String(refused), when: "screenRelay.phase === 'failed'", on: page, axe, "refused")
            try look(at: desktop.link, when: "screenRelay.figures.includes('fps')", on: page, axe, "playing")
            try page.evaluate("document.getElementById('figures').click()")
            try page.waitUntil("document.querySelector('.paths')?.childElementCount > 0")
            try expectNothingBroken(on: page, "charts")
            for panel in ["people-button", "chat-button", "meet", "present"] {
                try page.waitUntil("document.getElementById('\(panel)')?.hidden === false")
                try page.evaluate("document.getElementById('\(panel)').click()")
                #expect(try page.evaluate("document.getElementById('charts').hidden").bool == true)
                if panel == "people-button" {
                    try page.waitUntil("document.getElementById('show-code') !== null")
                    try page.waitUntil("document.activeElement.id === 'people-title'")
                    try page.evaluate("document.getElementById('show-code').click()")
                    try page.waitUntil("document.querySelector('#code svg') !== null")
                }
                if panel == "chat-button" { try page.waitUntil("document.getElementById('chat-text') !== null") }
                try expectNothingBroken(on: page, panel)
            }
            try page.evaluate("document.getElementById('help').click()")
            try expectNothingBroken(on: page, "keys")
        }

        @Test(
            "no rule is broken while sound is offered, heard and muted, light and dark",
            .enabled(if: PulseServer.isAvailable), .timeLimit(.minutes(5)))
        func sound() throws {
            let server = try PulseServer(in: TemporaryFolder())
            let desktop = try SharedDesktop(
                options: ["--sound", "desktop"], prefix: ["env", "PULSE_SERVER=\(server.address)"])
            let browser = try Browser.launch()
            let page = try browser.newPage()
            let isOffered = "document.getElementById('listen')?.checkVisibility()"

            try look(at: desktop.link, when: isOffered, on: page, AccessibilityRules.script(), "sound")
            try page.evaluate("document.getElementById('listen').click()")
            try page.waitUntil("screenRelay.isListening")
            try expectNothingBroken(on: page, "sound that is heard")
            let mute = try CommandLineRun(["screenrelay", "mute", "--pid", "\(desktop.host.child.processID)"])
            #expect(mute.status == .exited(0), "\(mute.errorOutput)")
            try page.waitUntil("screenRelay.sound === 'muted'", within: .seconds(5))
            try expectNothingBroken(on: page, "sound that is muted")
        }

        @Test(
            "no rule is broken while devices are chosen, light and dark, and a phone's screen has room for the choice",
            .timeLimit(.minutes(5)))
        func devices() throws {
            let room = try PublishedRoom()
            let presenter = try PresentingPage(room, cameras: 2)
            let page = presenter.page
            try presenter.press("camera")
            try page.waitUntil("document.getElementById('choice-start')?.disabled === false")
            try page.evaluate(AccessibilityRules.script() + "; 0")
            try expectNothingBroken(on: page, "devices")
            try page.send(
                "Emulation.setDeviceMetricsOverride",
                ["width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true])
            try page.waitUntil("innerWidth === 390")
            #expect(try page.evaluate(isInside("presenting")) == true)
            try expectNothingBroken(on: page, "devices on a phone")
            try presenter.start()
            _ = try presenter.waitUntilLive("camera")
            try page.evaluate("document.getElementById('choice-change').click()")
            #expect(try page.evaluate(isInside("presenting")) == true)
            try expectNothingBroken(on: page, "devices of a share")

            // A meeting has a panel of its own.
            try page.waitUntil("document.getElementById('meet')?.hidden === false")
            try page.evaluate("document.getElementById('meet').click()")
            try page.evaluate("document.querySelector('#invitation .primary').click()")
            let choice = ChoicePanel(page: page, id: "meet-choice")
            try page.waitUntil("\(choice.part("start"))?.disabled === false")
            #expect(try page.evaluate(isInside("invitation")) == true)
            try expectNothingBroken(on: page, "devices before a meeting")
            try choice.start()
            try page.waitUntil("screenRelay.meeting.state === 'on'")
            try page.evaluate("document.querySelector('#meeting .own .change').click()")
            #expect(try page.evaluate(isInside("invitation")) == true)
            try expectNothingBroken(on: page, "devices of a meeting")
        }

        /// Whether the panel of this id, and the page, fit the screen.
        private func isInside(_ panel: String) -> String {
            """
            ((panel) => {
              const { left, right, top, bottom } = panel.getBoundingClientRect();
              return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
                && panel.scrollWidth <= panel.clientWidth && document.documentElement.scrollWidth <= innerWidth;
            })(document.getElementById('\(panel)'))
            """
        }

        private func look(at link: String, when condition: String, on page: Page, _ axe: String, _ what: String) throws
        {
            // Only a new document forgets the previous one.
            try page.navigate("about:blank")
            try page.navigate(link)
            try page.waitUntil("Boolean(window.screenRelay && (\(condition)))")
            try page.evaluate(axe + "; 0")
            try expectNothingBroken(on: page, what)
        }

        private func expectNothingBroken(on page: Page, _ what: String) throws {
            for scheme in ["light", "dark"] {
                try page.send(
                    "Emulation.setEmulatedMedia",
                    [
                        "features": [
                            ["name": "prefers-color-scheme", "value": .string(scheme)],
                            // Colours are checked while nothing fades.
                            ["name": "prefers-reduced-motion", "value": "reduce"],
                        ]
                    ])
                try page.settle(for: .milliseconds(200))
                let broken = try page.evaluate(
                    """
                    document.dispatchEvent(new PointerEvent('pointermove'));
                    axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) =>
                      [id, ...nodes.map((node) => `${node.target} ${node.failureSummary}`)])))
                    """, within: .seconds(90))
                #expect(broken.string == "[]", "\(what), \(scheme)")
            }
        }
    }
}

/// axe-core, which `Tools/python` fetches.
enum AccessibilityRules {
    private static let folder = "\(packageRoot)/.build/python/axe/lib"

    /// The script's file; nil if it wasn't fetched.
    private static var file: String? {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return versions.map { "\(folder)/\($0)/site-packages/axe_core_python/axe.min.js" }
            .first { FileManager.default.fileExists(atPath: $0) }
    }

    static var areThere: Bool { file != nil }

    static func script() throws -> String { try String(contentsOfFile: #require(file), encoding: .utf8) }
}
