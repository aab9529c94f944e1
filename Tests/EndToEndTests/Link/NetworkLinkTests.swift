import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

/// A host that accepts its capture over TCP, encrypted if `scheme` is "tls".
final class NetworkHost {
    private let scheme: String
    let program: RunningProgram
    /// The room's link.
    let link: String
    let port: UInt16

    /// `prefix`: a command that runs it.
    init(
        _ options: [String] = [], scheme: String = "tcp", listen: String = "127.0.0.1", prefix: [String] = []
    ) throws {
        self.scheme = scheme
        program = try RunningProgram(
            "screenrelay", ["host", "--link", "\(scheme):\(listen):0"] + options + LinkSocket.hostOptions,
            prefix: prefix)
        link = try program.printedLink()
        let words = "Waiting for capture on \(scheme):\(listen):"
        let line = program.output.split(separator: "\n").first { $0.hasPrefix(words) } ?? ""
        port = try #require(UInt16(line.dropFirst(words.count).prefix { $0.isNumber }))
    }

    var address: String { "\(scheme):127.0.0.1:\(port)" }
}

extension EndToEnd {
    @Suite("Host and capture by TCP", .enabled(if: EndToEnd.isPossible))
    struct LinkByTCP {
        /// A folder with two tokens in it.
        private func tokens() throws -> TemporaryFolder {
            let folder = try TemporaryFolder()
            for name in ["token", "other"] {
                try folder.write(name, Array("a token for \(name), of some length\n".utf8))
                chmod(folder.file(name), 0o600)
            }
            return folder
        }

        @Test("they come together, and the status says how far away capture is")
        func together() throws {
            let folder = try tokens()
            let host = try NetworkHost(["--capture-key", folder.file("token")], listen: "0.0.0.0")
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let capture = try RunningProgram(
                "screenrelay",
                [
                    "capture", "--link", "tcp:localhost:\(host.port)", "--capture-key", folder.file("token"),
                    "--display",
                    screen.name,
                ])
            defer { capture.stop() }
            try host.program.waitForLog(LinkBetweenPrograms.cameTogether)
            #expect(try LinkSnapshot(of: host.link).picture.width == 320)
            try host.program.waitForLog("there and back, its clock is ours")
            let status = try CommandLineRun(["screenrelay", "status", "--pid", "\(host.program.child.processID)"])
            #expect(status.output.contains("live; hosting tcp:0.0.0.0:\(host.port) to the room screen"))
            #expect(status.output.contains(" ms there and back, clock "))

            // A capture finds a host again that went away and came back at the same port.
            let port = host.port
            #expect(host.program.stop() == .exited(0))
            let next = try RunningProgram(
                "screenrelay",
                ["host", "--link", "tcp:127.0.0.1:\(port)", "--capture-key", folder.file("token")]
                    + LinkSocket.hostOptions)
            defer { next.stop() }
            _ = try next.printedLink()
            try next.waitForLog(LinkBetweenPrograms.cameTogether)
        }

        /// Runs a command with a CLOCK_MONOTONIC that is 500,000 s ahead (time_namespaces(7)).
        private static let otherClock = ["unshare", "--time", "--monotonic", "500000"]
        private static let hasOtherClock: Bool = {
            let trial = try? ChildProcess.run(
                Launch(otherClock[0], Array(otherClock.dropFirst()) + ["true"]), within: .seconds(5))
            return trial?.status == .exited(0)
        }()

        @Test("the clock of another machine is found out, and its pictures are shown", .enabled(if: hasOtherClock))
        func otherMachine() throws {
            let host = try NetworkHost()
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let capture = try RunningProgram(
                "screenrelay-capture", ["--link", host.address, "--display", screen.name], prefix: Self.otherClock)
            defer { capture.stop() }
            // The answer to the first ping may have waited for a picture.
            let words = "its clock is ours +"
            try host.program.waitForLog(words, count: 6)
            let last = try #require(host.program.log.split(separator: "\n").last { $0.contains(words) })
            let number = last.split(separator: "+").last?.split(separator: ".").first.flatMap { Int($0) }
            let offset = try #require(number)
            #expect(abs(offset - 500_000_000) <= 10, "\(last)")
            #expect(try LinkSnapshot(of: host.link).picture.width == 320)
            #expect(host.program.occurrences(of: "a clock has jumped") == 0)
        }

        @Test("a capture without the token, or with another, is told so and ends for good")
        func wrongToken() throws {
            let folder = try tokens()
            let host = try NetworkHost(["--capture-key", folder.file("token")])
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            for options in [[], ["--capture-key", folder.file("other")]] {
                let run = try CommandLineRun(
                    ["screenrelay-capture", "--link", host.address, "--display", screen.name] + options)
                #expect(run.status == .exited(77))
                #expect(
                    run.errorOutput.contains("--link \(host.address): this host takes only captures that were given"))
            }
            let legacy = try CommandLineRun(
                ["screenrelay-capture", "--link", host.address, "--legacy", "--capture-key", folder.file("token")])
            #expect(legacy.status == .exited(64))
            #expect(host.program.occurrences(of: "link: capture") == 0)
        }

        @Test("a capture that has a token ends where the host has none, and sends it nothing")
        func hostWithoutToken() throws {
            let folder = try tokens()
            let host = try NetworkHost()
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let run = try CommandLineRun(
                [
                    "screenrelay-capture", "--link", host.address, "--display", screen.name, "--capture-key",
                    folder.file("token"),
                ])
            #expect(run.status == .exited(77))
            #expect(run.errorOutput.contains("the host there doesn't ask for the --capture-key"), "\(run.errorOutput)")
            #expect(host.program.occurrences(of: "link: capture") == 0)
        }

        @Test("a legacy sender is taken from where it may be, and refused from elsewhere")
        func legacySender() throws {
            let folder = try tokens()
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            for (range, isTaken) in [("127.0.0.0/8", true), ("192.0.2.0/24", false)] {
                let host = try NetworkHost([
                    "--capture-key", folder.file("token"), "--legacy-from", "2001:db8::1", "--legacy-from", range,
                ])
                let capture = try RunningProgram(
                    "screenrelay-capture", ["--legacy", "--link", host.address, "--display", screen.name])
                defer { capture.stop() }
                if isTaken {
                    try host.program.waitForLog("a legacy sender")
                    #expect(try LinkSnapshot(of: host.link).picture.width == 320)
                } else {
                    try host.program.waitForLog("127.0.0.1 is refused")
                    #expect(host.program.occurrences(of: "a legacy sender") == 0)
                }
            }
        }

        @Test("other machines are neither let in nor gone to without a token, and a token has to be one")
        func withoutToken() throws {
            let folder = try tokens()
            let options = Array(LinkSocket.hostOptions.dropLast(2))
            func expectEnd(_ words: [String], _ code: Int32, _ text: String) throws {
                let run = try CommandLineRun(words)
                #expect(run.status == .exited(code), "\(words)")
                #expect(run.errorOutput.contains(text), "\(words): \(run.errorOutput)")
            }
            try expectEnd(
                ["screenrelay", "host", "--link", "tcp:0.0.0.0:0"] + options, 64, "the same --capture-key FILE")
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            try expectEnd(
                ["screenrelay-capture", "--link", "tcp:192.0.2.1:7300", "--display", screen.name], 64,
                "the same --capture-key FILE")
            try expectEnd(["screenrelay-capture", "--link", "tcp:127.0.0.1:0"], 64, "only a host can use port 0")
            try expectEnd(
                ["screenrelay", "host", "--link", "unix:s.sock", "--capture-key", folder.file("token")] + options, 64,
                "only a capture link over TCP has a key")
            chmod(folder.file("token"), 0o644)
            try expectEnd(
                ["screenrelay", "host", "--link", "tcp:0.0.0.0:0", "--capture-key", folder.file("token")] + options, 77,
                "other users may read or write it")
            try expectEnd(
                ["screenrelay", "host", "--link", "tcp:192.0.2.1:0", "--capture-key", folder.file("other")] + options,
                64, "is not an address of this machine")
            let socket = try TestSocket(listening: .tcp)
            try expectEnd(
                ["screenrelay", "host", "--link", "tcp:127.0.0.1:\(socket.port)"] + options, 69,
                "another program listens on")
        }
    }
}
