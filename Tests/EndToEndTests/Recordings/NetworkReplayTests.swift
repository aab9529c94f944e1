import CaptureLink
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Replay and inspect by TCP", .enabled(if: EndToEnd.isPossible))
    struct ReplayByTCP {
        private let folder: TemporaryFolder
        private let stream: String

        init() throws {
            folder = try TemporaryFolder()
            for name in ["token", "other"] {
                try folder.write(name, Array("a token for \(name), of some length\n".utf8))
            }
            stream = TestStreams.small.path
        }

        private func replay(to address: String, _ options: [String]) throws -> CommandLineRun {
            try CommandLineRun(["screenrelay", "replay", "--link", address, "--speed", "max", stream] + options)
        }

        @Test("a replay with the host's token is taken; without it or with another it ends with 77, as capture does")
        func token() throws {
            let host = try NetworkHost(["--capture-key", folder.file("token"), "--record", folder.file("r.srr")])
            for options in [[], ["--capture-key", folder.file("other")]] {
                let run = try replay(to: host.address, options)
                #expect(run.status == .exited(77))
                #expect(run.errorOutput.contains("this host takes only captures that were given"), "\(run.errorOutput)")
            }
            let run = try replay(to: host.address, ["--capture-key", folder.file("token")])
            #expect(run.status == .exited(0), "\(run.errorOutput)")
            #expect(host.program.stop() == .exited(0))
            let arrived = try RecordedConnection.all(of: folder.file("r.srr"))
            #expect(arrived.last?.annexB == (try fileBytes(stream)))
        }

        @Test("a token's file that is not there, or holds no token, is told as any other input is")
        func noToken() throws {
            try folder.write("short", [1, 2, 3])
            let missing = try replay(to: "tcp:127.0.0.1:1", ["--capture-key", folder.file("none")])
            #expect(missing.status == .exited(66))
            #expect(missing.errorLine?.contains("No such file") == true)
            #expect(try replay(to: "tcp:127.0.0.1:1", ["--capture-key", folder.file("short")]).status == .exited(65))
        }

        /// Starts `inspect` at a port of its own, and returns its address.
        private func inspect(_ options: [String]) throws -> (program: RunningProgram, port: UInt16) {
            let program = try RunningProgram("screenrelay", ["inspect", "--json", "--link", "tcp:0.0.0.0:0"] + options)
            let words = "waiting for a capture or replay on tcp:0.0.0.0:"
            try program.waitForLog(words)
            let line = try #require(program.log.split(separator: "\n").first { $0.contains(words) })
            return (program, try #require(line.split(separator: ":").last.flatMap { UInt16($0) }))
        }

        @Test("inspect says which port it got, shows who has the token, and nobody else")
        func inspected() throws {
            let open = try CommandLineRun(["screenrelay", "inspect", "--link", "tcp:0.0.0.0:0"])
            #expect(open.status == .exited(64))
            #expect(open.errorLine?.contains("the same --capture-key FILE") == true)

            let (program, port) = try inspect(["--capture-key", folder.file("token")])
            let address = "tcp:127.0.0.1:\(port)"
            #expect(port != 0)
            let refused = try replay(to: address, ["--capture-key", folder.file("other")])
            #expect(refused.status == .exited(77))
            #expect(refused.errorLine?.contains("were given the --capture-key file") == true, "\(refused.errorOutput)")
            let garbage = try TestSocket(port: port)
            try garbage.send([UInt8](repeating: 0x26, count: 4000))
            try garbage.readToEnd("bytes that show no token")
            let taken = try replay(to: address, ["--capture-key", folder.file("token")])
            #expect(taken.status == .exited(0), "\(taken.errorOutput)")
            program.child.terminate(SIGINT)
            #expect(program.child.wait(within: .seconds(10)) == .exited(0))
            program.child.output?.waitForEnd(within: .seconds(10))
            #expect(program.output.contains("{\"type\":\"summary\""))
            #expect(program.output.components(of: "\"type\":\"connection\"") == 1)
            #expect(!program.output.contains("\"type\":\"fault\""))
        }

        @Test("one that is silent keeps inspect from others for a few seconds, and no longer")
        func silent() throws {
            let (program, port) = try inspect(["--capture-key", folder.file("token")])
            let silent = try TestSocket(port: port)
            let taken = try replay(to: "tcp:127.0.0.1:\(port)", ["--capture-key", folder.file("token")])
            // A replay waits five seconds for a host's hello.
            #expect(taken.status == .exited(69))
            try silent.readToEnd("silence")
            let again = try replay(to: "tcp:127.0.0.1:\(port)", ["--capture-key", folder.file("token")])
            #expect(again.status == .exited(0), "\(again.errorOutput)")
            #expect(program.occurrences(of: "closed a connection that sent no message") >= 1)
            #expect(program.stop() == .exited(0))
        }
    }
}

extension String {
    /// How often it contains `text`.
    fileprivate func components(of text: String) -> Int {
        var count = 0
        var rest = self[...]
        while let found = rest.firstRange(of: text) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }
}
