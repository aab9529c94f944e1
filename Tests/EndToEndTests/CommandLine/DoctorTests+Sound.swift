import TestSupport
import Testing

/// What `doctor --sound` finds.
extension EndToEnd.DoctorTests {
    @Test(
        "a sound server that isn't there is named if sound is to be shared",
        .enabled(if: builtProgram("screenrelay-sound") != nil))
    func noSoundServer() throws {
        let screen = try VirtualScreen(Self.size)
        let nowhere = ["PULSE_SERVER": "unix:/nowhere/native"]
        try expectFault(
            RunningProgram.anyPorts + ["--sound", "desktop"], on: screen.name, environment: nowhere,
            says: "no PulseAudio server answers", "PULSE_SERVER")
        #expect(
            try ids(RunningProgram.anyPorts + ["--sound", "desktop"], on: screen.name, environment: nowhere) == [
                "sound-server"
            ])
        let silent = try doctor(RunningProgram.anyPorts, on: screen.name, environment: nowhere)
        #expect(silent.lines == ["Nothing is wrong."])
    }

    @Test(
        "a device that is to be heard and isn't there is named",
        .enabled(if: PulseServer.isAvailable && builtProgram("screenrelay-sound") != nil))
    func soundDevices() throws {
        let screen = try VirtualScreen(Self.size)
        let server = try PulseServer(in: folder)
        let environment = ["PULSE_SERVER": server.address]
        func lines(_ source: String) throws -> [String] {
            try doctor(
                RunningProgram.anyPorts + ["--sound", source], on: screen.name, environment: environment
            ).lines
        }
        #expect(try lines("desktop") == ["Nothing is wrong."])
        try expectFault(
            RunningProgram.anyPorts + ["--sound", "both"], on: screen.name, environment: environment,
            says: "PulseAudio has no microphone", "connect")
        try server.pactl(["load-module", "module-null-source", "source_name=mic"])
        try server.pactl(["set-default-source", "out.monitor"])
        try expectFault(
            RunningProgram.anyPorts + ["--sound", "microphone"], on: screen.name, environment: environment,
            says: "default source is not a microphone", "pactl set-default-source mic")
        try server.pactl(["set-default-source", "mic"])
        #expect(try lines("both") == ["Nothing is wrong."])
    }
}
