import BrowserDriver
import Foundation
import PageStories
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Checks the page with axe-core, whose rules most accessibility checkers use.
    @Suite("The page for everyone", .enabled(if: EndToEnd.hasBrowser && AccessibilityRules.areThere))
    struct BrowserAccessibilityTests {
        @Test(
            "no rule is broken in any state, and on a phone, all of it has room and fits fingers",
            .timeLimit(.minutes(10)), arguments: [PageStory.Room.desktop, .door, .empty])
        func states(of room: PageStory.Room) throws {
            let owner: AnyObject
            let host: RunningProgram
            switch room {
            case .desktop, .stale:
                let desktop = try SharedDesktop(options: ["--presenters"])
                (owner, host) = (desktop, desktop.host)
            case .door, .empty:
                let published = try PublishedRoom(room == .door ? ["--waiting-room"] : [])
                (owner, host) = (published, published.host)
            }
            defer { withExtendedLifetime(owner) {} }
            let links = PageStory.Links(
                viewer: try host.printedLink(), presenter: try host.printed("Presenters: "))
            let browser = try Browser.launch(extraFlags: PageStory.browserFlags)
            var count = 0
            for story in PageStory.all where story.room == room {
                try story.play(links, in: .english, of: browser) { page, state, prepare in
                    try AccessibilityRules.load(into: page)
                    // Each screen and each colour scheme once.
                    for (screen, isDark) in [(PageScreen.wide, false), (PageScreen.phone, true)] {
                        try screen.set(on: page, isDark: isDark)
                        try prepare()
                        try page.settle(for: .milliseconds(200))
                        #expect(try AccessibilityRules.broken(on: page) == "[]", "\(state), \(screen.name)")
                        #expect(try lastingFaults(on: page) == "", "\(state), \(screen.name)")
                    }
                    count += 1
                }
            }
            #expect(count > (room == .desktop ? 50 : 4))
        }

        /// The faults that are still there after 5 s. The page learns the height of its bar with its next frame, which
        /// is late on a busy machine.
        private func lastingFaults(on page: Page) throws -> String? {
            let deadline = ContinuousClock.now + .seconds(5)
            while true {
                let faults = try page.evaluate(Self.faults).string
                if faults == "" || ContinuousClock.now > deadline { return faults }
                try page.settle(for: .milliseconds(50))
            }
        }

        /// What has no room on the page, or is too small for fingers where there are only those; empty if nothing is.
        private static let faults = """
            (() => {
              const faults = [];
              const isVisible = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
              const visible = (selector) => [...document.querySelectorAll(selector)].filter(isVisible);
              const name = (one) => one.id || one.className || one.textContent;
              if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls');
              for (const one of visible('.panel, .card, .bar, .notice, dialog')) {
                const { left, right, top, bottom } = one.getBoundingClientRect();
                const isInside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
                if (!isInside || one.scrollWidth > one.clientWidth) faults.push(`${name(one)} has no room`);
              }
              const bar = visible('.bar')[0]?.getBoundingClientRect();
              for (const one of visible('.panel, .card, .notice')) {
                if (bar && one.getBoundingClientRect().bottom > bar.top) faults.push(`${name(one)} is on the bar`);
              }
              for (const one of visible('.tile button')) {
                const [button, tile] = [one, one.closest('.tile')].map((each) => each.getBoundingClientRect());
                const isCut = button.left < tile.left || button.right > tile.right || button.top < tile.top
                  || button.bottom > tile.bottom;
                if (isCut) faults.push(`${name(one)} is cut off`);
              }
              if (matchMedia('(pointer: coarse)').matches) {
                // What is larger than its text for fingers has a layer for them.
                for (const one of visible('button:not(.link), select, input:not([type=checkbox])')) {
                  const { width, height } = one.getBoundingClientRect();
                  if (Math.min(width, height) < 44) faults.push(`${name(one)} is small: ${width} by ${height}`);
                }
              }
              return faults.join(', ');
            })()
            """

        @Test(
            "no rule is broken while sound is offered, heard and muted, light and dark",
            .enabled(if: PulseServer.isAvailable), .timeLimit(.minutes(5)))
        func sound() throws {
            let server = try PulseServer(in: TemporaryFolder())
            let desktop = try SharedDesktop(
                options: ["--sound", "desktop"], prefix: ["env", "PULSE_SERVER=\(server.address)"])
            let browser = try Browser.shared()
            let page = try browser.newPage()
            let isOffered = "document.getElementById('listen')?.checkVisibility()"

            try page.navigate(desktop.link)
            try page.waitUntil(isOffered)
            try AccessibilityRules.load(into: page)
            try expectNothingBroken(on: page, "sound that is offered")
            try page.evaluate("document.getElementById('listen').click()")
            try page.waitUntil("screenRelay.isListening")
            try expectNothingBroken(on: page, "sound that is heard")
            let mute = try CommandLineRun(["screenrelay", "mute", "--pid", "\(desktop.host.child.processID)"])
            #expect(mute.status == .exited(0), "\(mute.errorOutput)")
            try page.waitUntil("screenRelay.sound === 'muted'")
            try expectNothingBroken(on: page, "sound that is muted")
        }

        private func expectNothingBroken(on page: Page, _ what: String) throws {
            for isDark in [false, true] {
                try PageScreen.wide.set(on: page, isDark: isDark)
                try page.settle(for: .milliseconds(200))
                try page.evaluate("document.dispatchEvent(new PointerEvent('pointermove'))")
                let broken = try AccessibilityRules.broken(on: page)
                #expect(broken == "[]", "\(what), \(isDark ? "dark" : "light")")
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

    /// Loads axe into the page, unless it is there.
    static func load(into page: Page) throws {
        guard try page.evaluate("typeof axe").string == "undefined" else { return }
        try page.evaluate(String(contentsOfFile: #require(file), encoding: .utf8) + "; 0")
    }

    /// The rules that the page breaks, and where, as JSON; the page has evaluated the script.
    static func broken(on page: Page) throws -> String? {
        try page.evaluate(
            """
            axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) =>
              [id, ...nodes.map((node) => `${node.target} ${node.failureSummary}`)])))
            """, within: .seconds(90)
        ).string
    }
}
