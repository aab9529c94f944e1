import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Notifications of viewers", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct NotificationTests {
        private let bus: SharersDesktop

        init() throws {
            bus = try SharersDesktop()
        }

        private func guest(_ name: String, of desktop: SharedDesktop) throws -> PythonClient {
            let guest = try PythonClient("guest", in: .rtc, [desktop.link, name])
            try guest.event("joined")
            return guest
        }

        @Test("name the first viewer who joins, and after 5 s those who have joined meanwhile; names are plain text")
        func names() throws {
            try bus.startNotifications()
            let desktop = try bus.share(["--notify"])
            let begin = now()
            let first = try guest("<b>Ann</b>\u{202E}", of: desktop)
            try eventually("a notification", holds: { bus.notifications.count == 1 })
            let text = try #require(bus.notifications.first)
            // The summary isn't read as markup, and the body has no name.
            #expect(text.contains("\"ScreenRelay\" 0 \"screenrelay\" \"<b>Ann</b> joined\""), "\(text)")
            #expect(text.contains("\"1 viewer in the room screen\""), "\(text)")
            let others = try ["Bea", "Cy"].map { try guest($0, of: desktop) }
            try eventually("both others", holds: { bus.notifications.joined().contains("3 viewers") })
            // The two may have joined before and after the end of the 5 s.
            let later = bus.notifications.dropFirst()
            let isTogether = later.count == 1 && later.first?.contains("\"Bea and 1 more joined\"") == true
            let isApart = later.count == 2 && later.contains { $0.contains("\"Bea joined\"") }
            #expect(isTogether || isApart, "\(later)")
            #expect(now() - begin >= .seconds(5))
            for guest in [first] + others { _ = guest.child.stop() }
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("are off without --notify")
        func off() throws {
            try bus.startNotifications()
            let tray = try bus.startTray()
            let desktop = try bus.share()
            let guest = try guest("Ann", of: desktop)
            // What the desktop is told about a viewer, it is told at once.
            try tray.event("item") { ($0["labels"] as? [String])?.first == "1 viewer" }
            _ = guest.child.stop()
            #expect(desktop.host.stop() == .exited(0))
            #expect(bus.notifications.isEmpty)
        }

        @Test("without a server, or without a bus, one line says so, and sharing continues", arguments: [true, false])
        func withoutServer(hasBus: Bool) throws {
            let desktop =
                hasBus
                ? try bus.share(["--notify"])
                : try SharedDesktop(
                    options: ["--notify"],
                    prefix: ["/usr/bin/env", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere/bus"])
            _ = try guest("Ann", of: desktop)
            try desktop.host.waitForLog("--notify: the desktop shows no notifications (")
            #expect(desktop.host.stop() == .exited(0))
            #expect(desktop.host.occurrences(of: "--notify: ") == 1)
        }
    }
}
