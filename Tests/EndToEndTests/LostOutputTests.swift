import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Output that can't be written", .enabled(if: EndToEnd.isPossible))
    struct LostOutput {
        /// Has standard output be a full disk.
        static let onFullDisk = ["/usr/bin/bash", "-c", "exec \"$@\" > /dev/full", "bash"]

        /// Runs the program to its end; gives its exit code and what it said on standard error.
        private func run(_ words: [String]) throws -> (status: ProcessStatus?, said: String) {
            let program = try RunningProgram("screenrelay", words, prefix: Self.onFullDisk)
            let status = try eventually("the end of \(words)") { program.child.poll() }
            program.child.errorOutput?.waitForEnd(within: .seconds(1))
            return (status, program.log)
        }

        @Test(
            "ends what only prints something with one line and 74",
            arguments: [
                "config", "man", "completion bash", "systemd-unit", "--help", "--version", "share --help", "help host",
                "capture --help",
            ])
        func printing(_ line: String) throws {
            let (status, said) = try run(line.split(separator: " ").map(String.init))
            #expect(status == .exited(74))
            #expect(said.hasSuffix(": standard output: No space left on device\n") && said.hasPrefix("screenrelay"))
            #expect(said.split(separator: "\n").count == 1)
        }

        @Test("ends what asks a host with one line and 74, whether or not it changed something")
        func asking() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
            _ = try host.printedLink()
            let process = ["--pid", "\(host.child.processID)"]
            for words in [["status"], ["status", "--json"], ["rooms"], ["rooms", "--json"], ["pause"], ["resume"]] {
                let (status, said) = try run(words + process)
                #expect(status == .exited(74), "\(words)")
                #expect(said == "screenrelay: standard output: No space left on device\n", "\(words)")
            }
        }

        @Test("is told by a host once, which goes on")
        func sharing() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram(
                "screenrelay",
                ["host", "--json", "--link", "unix:" + folder.file("s.sock")] + RunningProgram.anyPorts,
                prefix: Self.onFullDisk)
            try host.waitForLog("screenrelay: standard output: No space left on device; sharing goes on")
            #expect(host.child.poll() == nil)
            #expect(host.stop() == .exited(0))
            // The event of the end is lost as well.
            #expect(host.occurrences(of: "standard output") == 1)
        }
    }
}
