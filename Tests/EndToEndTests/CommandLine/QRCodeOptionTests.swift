import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("QR codes of links", .enabled(if: EndToEnd.isPossible))
    struct QRCodeOptions {
        private let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        private func host(_ options: [String]) throws -> RunningProgram {
            try RunningProgram.host("unix:" + folder.file("s.sock"), options)
        }

        @Test("a QR code is printed where it is asked for, and by itself to a terminal alone")
        func codes() throws {
            let asked = try host(["--qr"])
            let link = try asked.printedLink()
            try eventually("a code in \(asked.output)") { asked.output.contains("▀▀") ? () : nil }
            #expect(asked.output.split(separator: "\n").dropFirst(2).dropLast().allSatisfy { $0.first == "█" })
            #expect(!asked.output.contains("\u{1B}") && !link.isEmpty)
            asked.stop()

            let piped = try host(["--lan", "--listen", "0"])
            let reachable = try piped.printedLink()
            piped.stop()
            #expect(!piped.output.contains("█"))
            guard !reachable.hasPrefix("http://127.") else { return }
            for (options, isThere) in [
                (["--lan", "--listen", "0"], true), (["--lan", "--listen", "0", "--no-qr"], false), ([], false),
            ] {
                let words =
                    ["host", "--link", "unix:" + folder.file("t.sock"), "--udp-port", "0"]
                    + (options.isEmpty ? ["--listen", "127.0.0.1:0"] : options)
                let program = try #require(builtProgram("screenrelay"))
                // The host has a terminal of its own, 120 columns wide.
                let line = "stty cols 120; exec \(program) " + words.joined(separator: " ")
                var launch = Launch("/usr/bin/script", ["-q", "-c", line, "/dev/null"])
                launch.environment = RunningProgram.environment.merging(["TERM": "xterm-256color"]) { $1 }
                launch.standardInput = .pipe
                launch.standardOutput = .text(limit: 1 << 20)
                launch.leadsProcessGroup = true
                let terminal = try ChildProcess(launch)
                try eventually("the link in \(terminal.output?.text ?? "")") {
                    (terminal.output?.text ?? "").contains("http://") ? () : nil
                }
                if isThere {
                    try eventually("a code in \(terminal.output?.text ?? "")") {
                        (terminal.output?.text ?? "").contains("\u{1B}[38;5;231;48;5;16m████") ? () : nil
                    }
                }
                // Ctrl-C, as from the keyboard; by then all output has been printed.
                try terminal.write([3])
                #expect(terminal.wait(within: .seconds(30)) != nil)
                #expect((terminal.output?.text ?? "").contains("█") == isThere)
                terminal.stop(within: .seconds(1))
            }
        }
    }
}
