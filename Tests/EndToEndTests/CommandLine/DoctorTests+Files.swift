import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

/// Wrong modes of files and folders.
extension EndToEnd.DoctorTests {
    @Test("each file with a secret that others can read is named with what to do, and isn't when they can't")
    func secrets() throws {
        let screen = try VirtualScreen(Self.size)
        let secret = try folder.write("secret", Array("0123456789abcdef\n".utf8))
        let certificate = try folder.write("certificate", Array("none\n".utf8))
        for options in [
            ["--token-file", secret], ["--present-token-file", secret], ["--admin-token-file", secret],
            ["--password-file", secret], ["--capture-key", secret], ["--push", "object:\(secret)"],
        ] {
            chmod(secret, 0o644)
            try expectFault(
                RunningProgram.anyPorts + options, on: screen.name, says: secret, "chmod 600")
            chmod(secret, 0o600)
            let sound = try doctor(RunningProgram.anyPorts + options, on: screen.name)
            #expect(sound.lines == ["Nothing is wrong."], "\(options) \(sound.lines)")
        }
        chmod(secret, 0o644)
        try expectFault(
            RunningProgram.anyPorts + ["--token-file", secret], on: screen.name, says: "0644", "chmod 600 \(secret)")
        // What these are for isn't there, which is not looked at when their files can't be used.
        try expectFault(
            RunningProgram.anyPorts + ["--ice-server", "turn:127.0.0.1:9", "--ice-secret-file", secret],
            on: screen.name, says: "--ice-secret-file \(secret)", "chmod 600")
        try expectFault(
            RunningProgram.anyPorts + ["--tls-cert", certificate, "--tls-key", secret], on: screen.name,
            says: "--tls-key \(secret):", "chmod 600")
    }

    @Test("a settings file with a secret that others can read is named, and what else it says is checked all the same")
    func settings() throws {
        let screen = try VirtualScreen(Self.size)
        let lines = "[share]\npush=rtmp://127.0.0.1:9/app/key\nlisten=0\nudp-port=0\n"
        let path = try folder.write("config", Array(lines.utf8))
        #expect(try doctor(["--config", path], on: screen.name).lines == ["Nothing is wrong."])
        chmod(path, 0o644)
        try expectFault(
            ["--config", path], on: screen.name, says: path + ":2: push", "others can read", "chmod 600 \(path)")
        let json = try doctor(["--config", path, "--json"], on: screen.name)
        #expect(json.status == .exited(69))
        let beginning = "{\"findings\":[{\"id\":\"file-mode\",\"what\":\"\(path):2:"
        #expect(json.lines.count == 1 && json.lines.first?.hasPrefix(beginning) == true, "\(json.lines)")

        try folder.write("config", Array((lines + "capture-memory=1M\n").utf8))
        let both = try doctor(["--config", path], on: screen.name)
        #expect(both.lines.count == 2 && both.lines.last?.contains("--capture-memory is 1M") == true, "\(both.lines)")
        // Without a secret, others may read it.
        try folder.write("config", Array("[share]\nlisten=0\nudp-port=0\n".utf8))
        #expect(try doctor(["--config", path], on: screen.name).lines == ["Nothing is wrong."])
    }

    @Test("folders that others can write to are named, as are wrong files in them, and nothing is made in them")
    func folders() throws {
        let screen = try VirtualScreen(Self.size)
        let options = RunningProgram.anyPorts + ["--tls", "self-signed"]
        for name in ["XDG_STATE_HOME", "XDG_RUNTIME_DIR"] {
            let home = try TemporaryFolder()
            let environment = [name: home.path]
            func lines() throws -> [String] { try doctor(options, on: screen.name, environment: environment).lines }
            #expect(try lines() == ["Nothing is wrong."])
            let path = home.file("screenrelay")
            #expect(access(path, F_OK) != 0)
            mkdir(path, 0o700)
            #expect(try lines() == ["Nothing is wrong."])
            chmod(path, 0o777)
            try expectFault(
                options, on: screen.name, environment: environment, says: path, "other users write",
                "chmod 700 \(path)")
        }
        let home = try TemporaryFolder()
        mkdir(home.file("screenrelay"), 0o700)
        let file = try home.write("screenrelay/self-signed.pem", Array("none".utf8))
        let environment = ["XDG_STATE_HOME": home.path]
        try expectFault(options, on: screen.name, environment: environment, says: file, "a new one is made")
        chmod(file, 0o604)
        try expectFault(options, on: screen.name, environment: environment, says: "0604", "chmod 600 \(file)")
    }
}
