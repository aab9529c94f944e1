import Processes
import TestSupport
import Testing
import Threading

@testable import DesktopIntegration

@Suite("A key of a Wayland desktop", .enabled(if: WaylandDesktop.isAvailable), .serialized)
struct PortalKeyTests {
    private static let parts: [WaylandDesktop.Part] = [.portal, .backend, .keys]
    private let lines = Lines()

    private func key(on busAddress: String) throws -> PortalKey {
        let chord = try #require(KeyChord("Ctrl+Alt+P"))
        return PortalKey(chord, log: EventLog { [lines] _, line in lines.add(line) }, busAddress: busAddress)
    }

    private func waitForLine(_ text: String, of key: PortalKey) throws {
        try eventually("'\(text)'; so far: \(lines.all)") {
            _ = try key.handleEvents()
            return lines.all.contains { $0.contains(text) } ? () : nil
        }
    }

    /// Waits until the key can't be used, or no longer.
    private func problem(of key: PortalKey) throws -> PortalKey.Problem {
        try eventually("the end of the key") {
            do throws(PortalKey.Problem) {
                _ = try key.handleEvents()
                return nil
            } catch {
                return error
            }
        }
    }

    /// Whether this portal has the interface by which programs name themselves (xdg-desktop-portal 1.19.4 and later).
    private func hasRegistry(_ desktop: WaylandDesktop) throws -> Bool {
        var launch = Launch(
            "dbus-send",
            [
                "--bus=\(desktop.busAddress)", "--print-reply", "--dest=org.freedesktop.portal.Desktop",
                "/org/freedesktop/portal/desktop", "org.freedesktop.DBus.Introspectable.Introspect",
            ])
        launch.standardOutput = .text(limit: 1 << 20)
        let result = try ChildProcess.run(launch, within: .seconds(90))
        try #require(result.status == .exited(0))
        return result.output.contains("org.freedesktop.host.portal.Registry")
    }

    @Test("is asked for under the program's name, is pressed, and is released with its object")
    func bound() throws {
        let desktop = try WaylandDesktop(Self.parts)
        var bound: PortalKey? = try key(on: desktop.busAddress)
        if let bound {
            // The user may have chosen another key, so the line has the desktop's words.
            try waitForLine("the key Press CTRL+ALT+p pauses and resumes", of: bound)
            let name = try hasRegistry(desktop) ? ApplicationID.name : ""
            #expect(desktop.count(of: "bind pause trigger=CTRL+ALT+p application=\(name)") == 1)
            for _ in 0..<2 {
                try desktop.tell("activate")
                let presses = try eventually("the key's press") {
                    let presses = try bound.handleEvents()
                    return presses > 0 ? presses : nil
                }
                #expect(presses == 1)
            }
        }
        bound = nil
        try eventually("the session's end at the desktop", holds: { desktop.count(of: "closed") == 1 })
    }

    @Test("that the desktop grants but doesn't bind may be set there later")
    func boundLater() throws {
        let desktop = try WaylandDesktop(Self.parts)
        try desktop.tell("keys none")
        let key = try key(on: desktop.busAddress)
        try waitForLine("the desktop has bound no key yet", of: key)
        try desktop.tell("activate")
        try eventually("the key's press") { try key.handleEvents() == 1 ? () : nil }
        withExtendedLifetime(desktop) {}
    }

    @Test("isn't had if the user or the desktop declines, and ends with its session, with the portal and with the bus")
    func ended() throws {
        let desktop = try WaylandDesktop(Self.parts)
        try desktop.tell("keys 1")
        #expect(try problem(of: key(on: desktop.busAddress)) == .cancelled)
        try desktop.tell("keys 2")
        #expect(try problem(of: key(on: desktop.busAddress)) == .refused)
        try desktop.tell("keys 0")
        let steps: [(command: String, problem: PortalKey.Problem)] = [
            ("unbind", .closed), ("end portal", .portalGone), ("end bus", .busGone),
        ]
        for (command, wanted) in steps {
            if wanted == .busGone { try desktop.tell("start portal") }
            let key = try key(on: desktop.busAddress)
            let count = lines.all.count
            try eventually("the bound key") {
                _ = try key.handleEvents()
                return lines.all.count > count ? () : nil
            }
            try desktop.tell(command)
            let end = try problem(of: key)
            #expect(end == wanted)
            #expect(end.isTemporary == (wanted == .portalGone))
        }
    }

    @Test("needs a bus, a portal, and a backend with keys; if there is none, the line names the commands instead")
    func missing() throws {
        #expect(try problem(of: key(on: "unix:path=/nonexistent")).description.hasPrefix("there is no session bus ("))
        let empty = try WaylandDesktop([])
        #expect(try problem(of: key(on: empty.busAddress)) == .noPortal)
        let bare = try WaylandDesktop([.portal, .backend])
        let none = try problem(of: key(on: bare.busAddress))
        #expect(none == .noShortcuts && none.description.contains("'screenrelay pause'"))
        withExtendedLifetime((empty, bare)) {}
    }
}
