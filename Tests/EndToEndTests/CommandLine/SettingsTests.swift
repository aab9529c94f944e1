import BrowserDriver
import Foundation
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Settings files", .enabled(if: EndToEnd.isPossible))
    struct SettingsFiles {
        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        private func config(_ text: String) throws -> String { try folder.write("config", Array(text.utf8)) }

        @Test("a host is set up by one, and what the command line says wins")
        func host() throws {
            let path = try config(
                "[all]\nudp-port=0\n[host]\nlisten=127.0.0.1:0\nroom=attic\nlink=unix:\(folder.file("s.sock"))\n")
            for (options, room) in [([], "attic"), (["--room", "desk"], "desk")] {
                let host = try RunningProgram("screenrelay", ["host", "--config", path] + options)
                #expect(try host.printedLink().contains("/#\(room),"))
                host.stop()
            }
        }

        @Test("one in the user's own place is read unless another is named, or none is wanted")
        func standard() throws {
            let home = folder.file("home")
            #expect(mkdir(home, 0o700) == 0 && mkdir(home + "/screenrelay", 0o700) == 0)
            try folder.write("home/screenrelay/config", Array("[share]\nfps=0\n".utf8))
            let other = try config("[share]\nbitrate=1\n")
            for (words, says) in [
                ([], "/home/screenrelay/config:2: fps 0: not a frame rate"),
                (["--config", other], "/config:2: bitrate 1: bit rate out of range"),
                (["--no-config", "--fps", "121"], "--fps 121: not a frame rate"),
                (["--fps", "30"], "--display: no display named and DISPLAY is not set"),
            ] {
                let run = try CommandLineRun(
                    ["screenrelay", "share", "--listen", "127.0.0.1:0", "--udp-port", "0"] + words,
                    environment: ["XDG_CONFIG_HOME": home])
                #expect(run.status == .exited(64))
                #expect(
                    run.errorOutput.contains(says.split(separator: ":").last.map(String.init) ?? says),
                    "\(run.errorOutput)")
                if says.hasPrefix("/") { #expect(run.errorLine?.contains(says) == true, "\(run.errorOutput)") }
            }
            // A command that a sharer needs in a hurry reads no settings.
            let stop = try CommandLineRun(
                ["screenrelay", "stop", "--pid", "1"], environment: ["XDG_CONFIG_HOME": home])
            #expect(stop.status == .exited(69) && stop.errorLine?.contains("--pid 1") == true)
        }

        @Test("capture gets what one says, though it reads none itself")
        func capture() throws {
            let link = "unix:" + folder.file("s.sock")
            let path = try config("[capture]\ndisplay=:9999\nlink=\(link)\n")
            var run = try CommandLineRun(["screenrelay", "capture", "--config", path])
            #expect(run.status == .exited(69) && run.errorLine?.contains("--display :9999: display") == true)
            #expect(run.errorLine?.hasPrefix("screenrelay-capture:") == true)
            run = try CommandLineRun(["screenrelay", "capture", "--config", path, "--display", "screen"])
            #expect(run.errorLine?.contains("--display screen") == true)
            run = try CommandLineRun(["screenrelay", "capture", "--config", try config("[capture]\nfps=0\n")])
            #expect(run.status == .exited(64) && run.errorLine?.contains("/config:2: fps 0") == true)
        }

        @Test("a switch of one that is in the way is named with its place, and can be taken back")
        func booleanSwitches() throws {
            let path = try config("[all]\nlan=true\n")
            let words = ["screenrelay", "host", "--config", path, "--listen", "127.0.0.1:0", "--udp-port", "no"]
            let refused = try CommandLineRun(words)
            #expect(refused.status == .exited(64))
            #expect(refused.errorLine?.contains("write --lan=false (\(path):2: lan is true)") == true)
            let run = try CommandLineRun(words + ["--lan=false"])
            #expect(run.errorLine?.contains("--udp-port no: not a port") == true, "\(run.errorOutput)")
        }

        @Test("each [push NAME] of one is a push of that name, besides those of the command line")
        func pushes() throws {
            let server = "rtmp://127.0.0.1:\(try freePort())"
            let path = try config(
                "[push desk]\nurl=\(server)/live/Sesam\ntries=0\n"
                    + "[push attic]\nurl=file:\(folder.file("attic.mp4"))\npreset=low1\n")
            let desktop = try SharedDesktop(options: ["--config", path, "--push", server + "/app/key"])
            for words in [
                "the push to \(server)/app/... has failed: ", "the push desk to \(server)/live/... has failed: ",
                "the push attic to file:\(folder.file("attic.mp4")) is connected",
            ] {
                try eventually("'\(words)'", holds: { desktop.host.output.contains(words) })
            }
            let words = ["screenrelay", "push", "list", "--pid", "\(desktop.host.child.processID)"]
            let json = try CommandLineRun(words + ["--json"]).output
            let pushes = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))["pushes"]
            #expect(pushes[1]["id"].int == 2 && pushes[1]["name"].string == "desk", "\(json)")
            #expect(pushes[1]["to"].string == "\(server)/live/...")
            #expect(pushes[2]["id"].int == 3 && pushes[2]["name"].string == "attic")
            #expect(pushes[2]["to"].string?.hasPrefix("file:") == true && !json.contains("Sesam"))
            let table = try CommandLineRun(words).output
            #expect(table.contains(" attic ") && !table.contains("Sesam"), "\(table)")
            #expect(!desktop.host.output.contains("Sesam") && !desktop.host.log.contains("Sesam"))
        }

        @Test(
            "a mistake in a push of one names its file, group and key, and nothing of its URL",
            arguments: [
                ("preset=low1", ":1: [push desk] has no url; write it like url=rtmp://HOST/APP/KEY", Int32(64)),
                ("url=http://live.example/app/Sesam", ":2: [push desk] url: nothing is pushed over http", 64),
                (
                    "url=rtmp://live.example/app/Sesam\npreset=huge",
                    ":3: [push desk] preset huge: no preset is called 'huge'", 64
                ),
                (
                    "url=rtmp://live.example/app/Sesam\ntries=9", ":3: [push desk] tries 9: not a number of retries", 64
                ),
                ("url=rtmp://live.example/app/Sesam\n[push desk]", ":3: [push desk] is there twice", 64),
                ("url rtmp://live.example/app/Sesam", ":2: 'url rtmp://...' is not a setting", 65),
            ])
        func pushMistakes(_ lines: String, _ says: String, _ exitCode: Int32) throws {
            let path = try config("[push desk]\n\(lines)\n")
            let run = try CommandLineRun(["screenrelay", "host", "--config", path] + RunningProgram.anyPorts)
            #expect(run.status == .exited(exitCode))
            let line = try #require(run.errorLine)
            #expect(line.contains(path + says) && !line.contains("Sesam"), "\(line)")
        }

        @Test("one with a push that others can read is refused as a password's file is, with 77")
        func privacy() throws {
            for key in ["[push desk]\nurl", "[share]\npush"] {
                let path = try config(key + "=rtmp://live.example/app/Sesam\n")
                #expect(chmod(path, 0o644) == 0)
                let run = try CommandLineRun(["screenrelay", "host", "--config", path] + RunningProgram.anyPorts)
                #expect(run.status == .exited(77))
                let line = try #require(run.errorLine)
                #expect(line.contains(path + ":2: ") && line.contains("chmod 600"), "\(line)")
                #expect(!line.contains("Sesam"))
            }
        }

        @Test(
            "a mistake in one names its file, line and key",
            arguments: [
                ("[share]\nfsp=3\n", "/config:2: unknown setting 'fsp' in [share]; did you mean fps?", Int32(64)),
                ("[sharing]\n", "/config:1: unknown group [sharing]", 64),
                ("[share]\nlan=yes\n", "/config:2: lan is a switch; write true or false", 64),
                ("fps=3\n", "/config:1: 'fps=3' is not in a group", 65),
                ("[all]\nfps\n", "/config:2: 'fps' is not a setting", 65),
            ])
        func mistakes(_ text: String, _ says: String, _ exitCode: Int32) throws {
            let path = try config(text)
            for command in ["share", "host", "capture", "replay"] {
                let run = try CommandLineRun(
                    ["screenrelay", command, "--config", path] + (command == "replay" ? ["none"] : []))
                #expect(run.status == .exited(exitCode))
                #expect(run.errorLine?.contains(says) == true, "\(run.errorOutput)")
            }
        }
    }
}
