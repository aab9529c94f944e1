import CaptureLink
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    @Suite(
        "A capture that gives up its rights",
        .enabled(if: EndToEnd.isPossible && builtProgram("screenrelay-sound") != nil))
    struct CaptureSandboxTests {
        @Test("does so on all threads, unless it is told not to, and records", arguments: [true, false])
        func capture(isConfined: Bool) throws {
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            defer { screen.close() }
            let folder = try TemporaryFolder()
            let program = try RunningProgram(
                "screenrelay-capture",
                [
                    "--display", screen.name, "--link", "unix:" + folder.file("none.sock"), "--record",
                    folder.file("r.srr"), "--log", "debug",
                ] + (isConfined ? [] : ["--unconfined"]))
            try program.waitForLog("waiting for it")
            // Besides the main thread, one writes the log and one the recording.
            #expect(try GivenUpRights.expect(isConfined, of: program.child.processID) == 3)
            #expect(program.log.contains(GivenUpRights.line()) == isConfined, "\(program.log)")
            #expect(program.stop() == .exited(0))
            let connection = try #require(try RecordedConnection.all(of: folder.file("r.srr")).first)
            #expect(connection.end?.reason == .stopped)
        }

        @Test("of sound too, and it finds its server again", .enabled(if: PulseServer.isAvailable))
        func sound() throws {
            let folder = try TemporaryFolder()
            let first = try PulseServer(in: folder)
            let program = try RunningProgram(
                "screenrelay-sound", ["--link", "unix:" + folder.file("none.sock"), "--log", "debug"],
                prefix: ["env", "PULSE_SERVER=\(first.address)"])
            try program.waitForLog("connected to PulseAudio")
            #expect(try GivenUpRights.expect(true, of: program.child.processID) == 2)
            #expect(program.log.contains(GivenUpRights.line()), "\(program.log)")
            first.kill()
            try program.waitForLog("no PulseAudio server answers")
            let second = try PulseServer(in: folder)
            defer { second.kill() }
            try program.waitForLog("connected to PulseAudio", count: 2)
            #expect(program.stop() == .exited(0))
        }

        @Test("is one of a share, and its audio capture too, unless it is told not to", arguments: [true, false])
        func share(isConfined: Bool) throws {
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            defer { screen.close() }
            let share = try RunningProgram(
                "screenrelay",
                ["share", "--display", screen.name, "--sound", "desktop"] + LinkSocket.hostOptions
                    + (isConfined ? [] : ["--capture-unconfined"]),
                prefix: ["env", "PULSE_SERVER=unix:/nowhere/native"])
            defer { share.stop() }
            // Both captures say this later.
            try share.waitForLog("connected to fd:3", count: 2)
            for program in ["screenrelay-capture", "screenrelay-sound"] {
                let lines = share.log.split(separator: "\n").filter { $0.hasPrefix(program) }
                #expect(lines.contains { "\($0)\n".hasSuffix(GivenUpRights.line()) } == isConfined, "\(lines)")
            }
        }
    }
}
