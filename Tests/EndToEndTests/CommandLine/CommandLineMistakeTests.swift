import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("What a user typed wrong", .enabled(if: EndToEnd.isPossible))
    struct CommandLineMistakes {
        @Test(
            "is answered by one line that names it and what would be right, and by its exit code", arguments: mistakes)
        func line(_ mistake: Mistake) throws {
            let folder = try TemporaryFolder()
            let run = try CommandLineRun(mistake.words, folder: folder.path)
            #expect(run.status == .exited(mistake.exitCode))
            let line = try #require(run.errorLine, "one line, not: \(run.errorOutput)")
            #expect(line.hasPrefix("screenrelay"))
            for words in mistake.says { #expect(line.contains(words), "\(words) in: \(line)") }
            // A script that reads the link must not get one that leads nowhere.
            #expect(run.output.isEmpty)
        }

        @Test("a port that is taken is named with its option, whichever of the two it is")
        func takenPorts() throws {
            for program in ["share", "host"] {
                let tcp = try TestSocket(listening: .tcp)
                let listen = "127.0.0.1:\(tcp.port)"
                var run = try CommandLineRun(["screenrelay", program, "--listen", listen, "--udp-port", "0"])
                #expect(run.status == .exited(69))
                #expect(run.errorLine?.contains("--listen: can't listen on \(listen)") == true)
                #expect(run.errorLine?.contains("choose another port") == true)

                let udp = try TestSocket(listening: .udp)
                run = try CommandLineRun([
                    "screenrelay", program, "--listen", "127.0.0.1:0", "--udp-port", "\(udp.port)",
                ])
                #expect(run.status == .exited(69))
                #expect(run.errorLine?.contains("--udp-port \(udp.port): the port is taken") == true)
                #expect(run.output.isEmpty)
            }
        }

        @Test("a second share says that one is running already, which it is, and what to write for both")
        func secondShare() throws {
            let folder = try TemporaryFolder()
            let environment = ["XDG_RUNTIME_DIR": folder.path]
            let prefix = ["env", "XDG_RUNTIME_DIR=\(folder.path)"]
            let screen = try VirtualScreen(PictureSize(width: 64, height: 48))
            let first = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name] + LinkSocket.hostOptions, prefix: prefix)
            let port = try #require(first.printedLink().split(separator: "/")[1].split(separator: ":").last)
            let words = ["screenrelay", "share", "--display", screen.name, "--listen", String(port), "--udp-port", "0"]
            let run = try CommandLineRun(words, environment: environment)
            #expect(run.status == .exited(69))
            let line = try #require(run.errorLine, "one line, not: \(run.errorOutput)")
            let running = "running already: process \(first.child.processID) "
            #expect(line.contains(running + "('screenrelay link' prints its invite link); for another"), "\(line)")
            #expect(line.contains("add --listen 0, or") && line.contains("'screenrelay stop'"))
            // On a terminal, which no journal keeps, the link itself is printed.
            let program = try #require(builtProgram(words[0]))
            var launch = Launch(
                "script", ["-qec", ([program] + words.dropFirst()).joined(separator: " "), "/dev/null"])
            launch.environment = RunningProgram.environment.merging(["XDG_RUNTIME_DIR": folder.path]) { $1 }
            launch.standardOutput = .text(limit: 1 << 20)
            let shown = try ChildProcess.run(launch, within: .seconds(120))
            #expect(shown.output.contains(running + "(\(try first.printedLink()));"), "\(shown.output)")
            let both = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name, "--listen", "0"],
                prefix: prefix)
            #expect(try both.printedLink().hasPrefix("http://127.0.0.1:"))
        }

        @Test("a snapshot that is refused, or has nowhere to go, leaves no file")
        func snapshots() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
            let link = try host.printedLink()

            var run = try CommandLineRun(["screenrelay", "snapshot", link + "x", "-o", folder.file("s.png")])
            #expect(run.status == .exited(77))
            #expect(run.errorLine?.contains("doesn't accept this invite link") == true)

            // Nothing has been captured yet.
            run = try CommandLineRun(["screenrelay", "snapshot", link, "-o", folder.file("s.png")])
            #expect(run.status == .exited(69))
            #expect(run.errorLine?.contains("no picture") == true)
            run = try CommandLineRun(["screenrelay", "snapshot", link, "-t", "nope", "-o", folder.file("s.png")])
            #expect(run.status == .exited(69))
            #expect(run.errorLine == "screenrelay: --track nope: the room has no such track")
            #expect(access(folder.file("s.png"), F_OK) != 0)
        }
    }
}
