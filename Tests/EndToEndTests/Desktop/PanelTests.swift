import Glibc
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The icon in Xfce's panel", .enabled(if: EndToEnd.isPossible && XfcePanel.isAvailable))
    struct PanelTests {
        private let panel: XfcePanel
        private let blue: UInt32 = 0x2F6FED
        private let grey: UInt32 = 0x6B7280

        init() throws {
            panel = try XfcePanel()
        }

        private func icon(_ color: UInt32) throws -> (x: Int, y: Int) {
            try eventually("the icon; the panel's log: \(panel.log)") { panel.place(of: color) }
        }

        private func noIcon() throws {
            try eventually("a panel without the icon") {
                panel.place(of: blue) == nil && panel.place(of: grey) == nil ? () : nil
            }
        }

        private func status(of desktop: SharedDesktop) throws -> String {
            try CommandLineRun(["screenrelay", "status", "--pid", "\(desktop.host.child.processID)"]).output
        }

        @Test("blue means live and grey paused; a click and the menu pause, resume and end the share")
        func life() throws {
            try panel.start()
            let desktop = try panel.desktop.share()
            let place = try icon(blue)
            panel.click(1, at: place)
            _ = try icon(grey)
            #expect(try status(of: desktop).hasPrefix("paused; "))
            // The number of viewers can't be selected, so Down selects what follows it, and Up the last entry.
            try panel.chooseFromMenu(at: place, selecting: .down)
            _ = try icon(blue)
            #expect(try status(of: desktop).hasPrefix("live; "))
            try panel.chooseFromMenu(at: place, selecting: .up)
            #expect(desktop.host.child.wait(within: .seconds(90)) == .exited(0))
            try noIcon()
            #expect(!panel.log.contains("DBUSMENU"), "\(panel.log)")
        }

        @Test("a panel that starts later, or again, has the icon, and a share that is killed takes it away")
        func restarts() throws {
            let desktop = try panel.desktop.share()
            try panel.start()
            _ = try icon(blue)
            panel.stop()
            try noIcon()
            try panel.start()
            _ = try icon(blue)
            desktop.host.child.terminate(SIGKILL)
            try noIcon()
        }
    }
}
