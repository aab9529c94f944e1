import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The key that pauses, on a Wayland desktop", .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable))
    struct WaylandPauseKeyTests {
        private static let size = PictureSize(width: 640, height: 480)

        private func share(_ desktop: WaylandDesktop) throws -> RunningProgram {
            let share = try RunningProgram(
                "screenrelay", ["share", "--pause-key", "Ctrl+Alt+P"] + LinkSocket.hostOptions,
                prefix: desktop.prefix())
            _ = try share.printedLink()
            return share
        }

        private func wait(for state: String, of share: RunningProgram, on desktop: WaylandDesktop) throws {
            var environment: [String: String] = [:]
            for (name, value) in desktop.environment { environment[name] = value }
            try eventually("the state \(state)") {
                let words = ["screenrelay", "status", "--pid", "\(share.child.processID)"]
                return try CommandLineRun(words, environment: environment).output.hasPrefix("\(state); ")
            }
        }

        @Test("pauses and resumes once the desktop has bound it")
        func pauses() throws {
            let desktop = try WaylandDesktop(size: Self.size)
            let window = try WaylandWindow(on: desktop, "0000ff")
            let share = try share(desktop)
            try share.waitForLog("the key Press CTRL+ALT+p pauses and resumes")
            try desktop.tell("activate")
            try wait(for: "paused", of: share, on: desktop)
            try desktop.tell("activate")
            try wait(for: "live", of: share, on: desktop)
            #expect(share.stop() == .exited(0))
            withExtendedLifetime((desktop, window)) {}
        }

        @Test("is one line if the desktop has no keys for programs, and sharing continues")
        func missing() throws {
            let desktop = try WaylandDesktop([.portal, .backend, .screen], size: Self.size)
            let window = try WaylandWindow(on: desktop, "0000ff")
            let share = try share(desktop)
            try share.waitForLog("--pause-key Ctrl+Alt+P: the desktop portal has no keys for other programs")
            try wait(for: "live", of: share, on: desktop)
            #expect(share.stop() == .exited(0))
            #expect(share.occurrences(of: "--pause-key") == 1)
            withExtendedLifetime((desktop, window)) {}
        }
    }
}
