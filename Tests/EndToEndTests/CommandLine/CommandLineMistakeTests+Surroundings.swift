import Glibc
import Processes
import TestSupport
import Testing

extension EndToEnd.CommandLineMistakes {
    @Test(
        "in a Wayland session without a user bus, share, capture and --list warn of it, unless another display is named"
    )
    func wayland() throws {
        let words = ["screenrelay", "share", "--listen", "0", "--udp-port", "0"]
        let wayland = ["WAYLAND_DISPLAY": "wayland-0", "DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": ""]
        let withBus = wayland.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"]) { $1 }
        for (display, environment, isWarned) in [
            (["--display", ":9998"], wayland, false), ([], wayland, true), (["--display", ":9999"], wayland, true),
            ([], ["WAYLAND_DISPLAY": ""], false), ([], [:], false),
            (["--display", ":9998"], withBus, false),
        ] as [([String], [String: String], Bool)] {
            let run = try CommandLineRun(words + display, display: ":9999", environment: environment)
            #expect(run.status == .exited(69))
            #expect(run.errorOutput.contains("this is a Wayland session") == isWarned, "\(run.errorOutput)")
            #expect(run.errorOutput.contains("no X server"), "\(run.errorOutput)")
            for words in [["capture"], ["capture", "--list"], ["share", "--list"]] {
                let run = try CommandLineRun(
                    ["screenrelay"] + words + display, display: ":9999", environment: environment)
                #expect(run.status == .exited(69))
                let lines = run.errorOutput.split(separator: "\n")
                let warnings = lines.count { $0.contains("this is a Wayland session") }
                #expect(warnings == (isWarned ? 1 : 0), "\(words): \(run.errorOutput)")
            }
        }
    }

    @Test("--capture-user doesn't go with a Wayland desktop", .enabled(if: geteuid() == 0))
    func desktopUser() throws {
        let run = try CommandLineRun(["screenrelay", "share", "--source", "wayland", "--capture-user", "nobody"])
        #expect(run.status == .exited(64))
        #expect(run.errorLine?.contains("--capture-user nobody: a Wayland desktop") == true, "\(run.errorOutput)")
    }

    @Test("a passphrase of SRT has 10 to 79 bytes, is in a file of this user's, and needs --srt")
    func passphrases() throws {
        let folder = try TemporaryFolder()
        for (length, mode, options, code, text) in [
            (9, 0o600, ["--srt", "0"], 65, "a passphrase has 10 to 79 bytes"),
            (80, 0o600, ["--srt", "0"], 65, "a passphrase has 10 to 79 bytes"),
            (10, 0o600, [], 64, "add --srt"), (79, 0o600, [], 64, "add --srt"),
            (10, 0o644, ["--srt", "0"], 77, "chmod 600"),
        ] as [(Int, mode_t, [String], Int32, String)] {
            let file = try folder.write("passphrase", [UInt8](repeating: 0x61, count: length))
            chmod(file, mode)
            let run = try CommandLineRun(["screenrelay", "host", "--srt-passphrase-file", file] + options)
            #expect(run.status == .exited(code))
            #expect(run.errorLine?.contains("--srt-passphrase-file \(file): ") == true, "\(run.errorOutput)")
            #expect(run.errorLine?.contains(text) == true, "\(run.errorOutput)")
        }
    }

    @Test("--open and --lan together warn that anyone on the network can watch; alone neither does")
    func openToAll() throws {
        for options in [["--open"], ["--lan"], ["--open", "--lan"]] {
            let words = [
                "screenrelay", "host", "--link", "unix:/nowhere/s.sock", "--listen", "0", "--udp-port", "0",
            ]
            let run = try CommandLineRun(words + options)
            #expect(run.status == .exited(69))
            #expect(run.errorOutput.contains("anyone on the network can watch") == (options.count == 2))
        }
    }

    @Test(
        "a port that isn't permitted is named with its option and what would be right, whichever of the two it is",
        .enabled(if: access("/usr/bin/setpriv", X_OK) == 0))
    func privilegedPorts() throws {
        // Take away root's right to such ports first.
        let prefix = geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set", "-net_bind_service"] : []
        for (ports, option) in [
            (["--listen", "127.0.0.1:80", "--udp-port", "0"], "--listen: can't listen on 127.0.0.1:80"),
            (["--listen", "127.0.0.1:0", "--udp-port", "80"], "--udp-port 80: can't be used on 127.0.0.1"),
        ] {
            let host = try RunningProgram("screenrelay", ["host"] + ports, prefix: prefix)
            let status = try eventually("the end of the host") { host.child.poll() }
            host.child.errorOutput?.waitForEnd(within: .seconds(1))
            #expect(status == .exited(77))
            #expect(host.log == "screenrelay: \(option): not permitted; choose a port from 1024 on\n")
        }
    }
}
