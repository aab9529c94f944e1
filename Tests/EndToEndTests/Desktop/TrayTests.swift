import Foundation
import Glibc
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The icon in the tray", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct TrayTests {
        private let bus: SharersDesktop

        init() throws {
            bus = try SharersDesktop()
        }

        /// The parts of the icon that tests compare.
        private struct Item {
            let title: String
            let text: String
            let iconName: String
            let labels: [String]
            let disabled: [String]
            let icons: [[String: Any]]

            init?(_ event: [String: Any]?) {
                guard let event, let title = event["title"] as? String, let text = event["text"] as? String,
                    let iconName = event["iconName"] as? String, let labels = event["labels"] as? [String],
                    let disabled = event["disabled"] as? [String], let icons = event["icons"] as? [[String: Any]]
                else { return nil }
                self.title = title
                self.text = text
                self.iconName = iconName
                self.labels = labels
                self.disabled = disabled
                self.icons = icons
            }
        }

        /// Waits until what the tray has read last is so.
        private func item(of tray: PythonClient, _ isWanted: (Item) -> Bool) throws -> Item {
            try eventually("the icon; last: \(tray.events.last ?? [:]) \(tray.child.errorOutput?.text ?? "")") {
                Item(tray.events.last { $0["event"] as? String == "item" }).flatMap { isWanted($0) ? $0 : nil }
            }
        }

        private func status(of desktop: SharedDesktop) throws -> String {
            try CommandLineRun(["screenrelay", "status", "--pid", "\(desktop.host.child.processID)"]).output
        }

        @Test("has the state, the room and the viewers; a click pauses, and the menu resumes and ends the share with 0")
        func life() throws {
            let tray = try bus.startTray()
            let desktop = try bus.share(["--room", "desk"])
            let live = try item(of: tray) { $0.title == "Screen sharing: live" }
            #expect(live.text == "Room desk, 0 viewers" && live.iconName.isEmpty)
            #expect(live.labels == ["0 viewers", "Pause", "separator", "Stop sharing"])
            #expect(live.disabled == ["0 viewers"])
            #expect(live.icons.map { $0["width"] as? Int } == [24, 48])
            #expect(live.icons.map { $0["bytes"] as? Int } == [24 * 24 * 4, 48 * 48 * 4])

            let guest = try PythonClient("guest", in: .rtc, [desktop.link, "Ann"])
            try guest.event("joined")
            #expect(try item(of: tray) { $0.labels.first == "1 viewer" }.text == "Room desk, 1 viewer")
            _ = guest.child.stop()
            _ = try item(of: tray) { $0.labels.first == "0 viewers" }

            try tray.tell("activate")
            let paused = try item(of: tray) { $0.title == "Screen sharing: paused" && $0.labels[1] == "Resume" }
            #expect(paused.icons.first?["hash"] as? String != live.icons.first?["hash"] as? String)
            #expect(try status(of: desktop).hasPrefix("paused; "))
            try tray.tell("click Resume")
            _ = try item(of: tray) { $0.title == "Screen sharing: live" && $0.labels[1] == "Pause" }
            #expect(try status(of: desktop).hasPrefix("live; "))

            try tray.tell("click Stop sharing")
            #expect(desktop.host.child.wait(within: .seconds(90)) == .exited(0))
        }

        @Test("tells only labels of its menu, because some trays close an open menu for a new layout")
        func labels() throws {
            let tray = try bus.startTray()
            let desktop = try bus.share()
            _ = try item(of: tray) { $0.title == "Screen sharing: live" }
            try tray.tell("activate")
            let change = try eventually("the menu's signal") { tray.events.first { $0["event"] as? String == "menu" } }
            #expect(change["member"] as? String == "ItemsPropertiesUpdated")
            #expect(change["labels"] as? [String] == ["Resume"])
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("follows pauses by commands and by signals")
        func otherPauses() throws {
            let tray = try bus.startTray()
            let desktop = try bus.share()
            _ = try item(of: tray) { $0.title == "Screen sharing: live" }
            let process = ["--pid", "\(desktop.host.child.processID)"]
            #expect(try CommandLineRun(["screenrelay", "pause"] + process).status == .exited(0))
            _ = try item(of: tray) { $0.title == "Screen sharing: paused" && $0.labels[1] == "Resume" }
            desktop.host.child.terminate(SIGUSR1)
            _ = try item(of: tray) { $0.title == "Screen sharing: live" && $0.labels[1] == "Pause" }
        }

        @Test("registers at a tray that starts later, and again at one that has restarted")
        func restarts() throws {
            let desktop = try bus.share()
            let tray = try bus.startTray()
            func registrations() -> [[String: Any]] { tray.events.filter { $0["event"] as? String == "registered" } }
            let first = try eventually("the icon") { registrations().first }
            // The item's own name on the bus, by which trays call it.
            #expect(first["service"] as? String == first["sender"] as? String)
            try tray.tell("leave")
            try tray.event("left")
            try tray.tell("return")
            try eventually("the icon again", holds: { registrations().count == 2 })
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("has the names of the icons that are installed")
        func installed() throws {
            let folder = try TemporaryFolder()
            let icons = folder.file("icons/hicolor/scalable/apps")
            try FileManager.default.createDirectory(atPath: icons, withIntermediateDirectories: true)
            for name in ["screenrelay", "screenrelay-paused"] {
                #expect(FileManager.default.createFile(atPath: "\(icons)/\(name).svg", contents: Data("<svg/>".utf8)))
            }
            let tray = try bus.startTray()
            let desktop = try bus.share(dataFolder: folder.file(""))
            _ = try item(of: tray) { $0.iconName == "screenrelay" }
            try tray.tell("activate")
            _ = try item(of: tray) { $0.iconName == "screenrelay-paused" }
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("a session bus that ends takes icon and notifications with it, and sharing continues")
        func busEnds() throws {
            let tray = try bus.startTray()
            let desktop = try bus.share(["--notify"])
            _ = try item(of: tray) { $0.title == "Screen sharing: live" }
            bus.endBus()
            try desktop.host.waitForLog("(the session bus has ended the connection)")
            #expect(try status(of: desktop).hasPrefix("live; "))
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("without a session bus, a share has no icon, and says nothing about that")
        func withoutBus() throws {
            let desktop = try SharedDesktop(
                prefix: ["/usr/bin/env", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere/bus"])
            #expect(try status(of: desktop).hasPrefix("live; "))
            #expect(desktop.host.stop() == .exited(0))
            #expect(desktop.host.occurrences(of: "session bus") == 0)
        }
    }
}
