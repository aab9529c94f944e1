import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The key that pauses", .enabled(if: EndToEnd.isPossible))
    struct PauseKeyTests {
        private static let control: UInt8 = 37
        private static let alt: UInt8 = 64
        private static let capsLock: UInt8 = 66
        private static let p: UInt8 = 33

        private func wait(for state: String, of desktop: SharedDesktop) throws {
            try eventually("the state \(state)") {
                try CommandLineRun(["screenrelay", "status", "--pid", "\(desktop.host.child.processID)"])
                    .output.hasPrefix("\(state); ")
            }
        }

        @Test("pauses and resumes, even with Caps Lock on; without one of its modifiers it does nothing")
        func pauses() throws {
            let desktop = try SharedDesktop(options: ["--pause-key", "Ctrl+Alt+P"])
            try desktop.host.waitForLog("the key Ctrl+Alt+P pauses and resumes")
            let client = try DisplayClient(desktop.screen.name)
            client.type(keysTogether: [Self.control, Self.p])
            client.type(keysTogether: [Self.control, Self.alt, Self.p])
            // If the first one worked too, sharing would go on now.
            try wait(for: "paused", of: desktop)
            client.type(key: Self.capsLock)
            client.type(keysTogether: [Self.control, Self.alt, Self.p])
            try wait(for: "live", of: desktop)
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("a key that another program has is one line, and sharing continues without it")
        func taken() throws {
            let first = try SharedDesktop(options: ["--pause-key", "Ctrl+Alt+P"])
            try first.host.waitForLog("the key Ctrl+Alt+P pauses and resumes")
            let second = try RunningProgram(
                "screenrelay",
                ["share", "--display", first.screen.name, "--room", "two", "--pause-key", "ctrl+alt+p"]
                    + LinkSocket.hostOptions)
            _ = try second.printedLink()
            try second.waitForLog("--pause-key ctrl+alt+p: another program has this key; choose another one")
            #expect(second.stop() == .exited(0))
            #expect(second.occurrences(of: "--pause-key") == 1)
        }
    }
}
