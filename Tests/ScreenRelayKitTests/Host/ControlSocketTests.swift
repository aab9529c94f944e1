import Glibc
import LinkTransport
import MediaTypes
import Signalling
import Synchronization
import TestSupport
import Testing

@testable import ScreenRelayKit

@Suite("The control socket")
struct ControlSocketTests {
    private final class Asked: Sendable {
        let commands = Mutex<[ControlCommand]>([])
    }

    private let temporary: TemporaryFolder
    private let folder: SocketFolder
    private let asked = Asked()

    init() throws {
        temporary = try TemporaryFolder()
        folder = SocketFolder(
            environment: .init(
                runtimeDirectory: temporary.path, temporaryDirectory: nil, userDirectories: "/nowhere", user: geteuid())
        )
    }

    private func serve(_ process: Int32, _ answer: String = "done") throws -> ControlServer {
        let asked = self.asked
        return try ControlServer(in: folder, process: process) { command in
            asked.commands.withLock { $0.append(command) }
            return .done(answer)
        }
    }

    private func path(_ process: Int32) -> String { "\(folder.path)/control-\(process).sock" }

    private func connect(_ process: Int32) throws -> SocketConnection {
        try SocketConnection.connect(to: .unix(path: path(process)))
    }

    /// All that comes until the server closes.
    private func readAll(_ connection: SocketConnection) throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        try eventually("the end") { () throws -> Void? in
            switch try connection.receive(into: &buffer) {
            case .bytes(let count): bytes += buffer[..<count]
            case .wouldBlock: break
            case .closed: return ()
            }
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("a command reaches the host, its answer comes back, and only the user can reach the socket")
    func commands() throws {
        let server = try serve(getpid(), "2 viewers,\nand more")
        defer { server.stop() }
        let client = ControlClient(in: folder)
        #expect(client.processes == [getpid()])
        let change = ControlCommand.RateChange(framesPerSecond: .unlimited, bitsPerSecond: .atMost(10_000))
        let commands: [ControlCommand] = [
            .pause, .muteMicrophone, .status, .rate(try #require(change)), .rooms(), .remove("6b1c2b0e"), .push(.list),
            .push(.add(url: "srt://a.example:9", preset: "high1,fps=30")), .push(.reload(2, preset: nil)),
        ]
        for command in commands {
            #expect(try client.ask(command, of: getpid()) == "2 viewers,\nand more")
        }
        #expect(asked.commands.withLock { $0 } == commands)
        #expect(commands.allSatisfy { $0.json.utf8.count < ControlLine.requestLimit })
        var status = stat()
        try #require(lstat(path(getpid()), &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
    }

    @Test("a program's answer may be long, and a person's is cut off")
    func lengths() throws {
        let server = try ControlServer(in: folder, process: 1) { command in
            switch command {
            case .pause: .refused("not now")
            case .sharpen: .done(String(repeating: "\u{1}", count: 300_000))
            case .link: .document("\"\(String(repeating: "x", count: 5 << 20))\"")
            default: .document("{\"x\":\"\(String(repeating: "x", count: 300_000))\"}")
            }
        }
        defer { server.stop() }
        let client = ControlClient(in: folder)
        for command in [ControlCommand.status, .rooms(), .push(.list)] {
            #expect(try client.ask(command, of: 1).count == 300_008)
        }
        #expect(try client.ask(.sharpen, of: 1).count == 512)
        for (command, reason) in [(ControlCommand.pause, "not now"), (.link, "the answer is too long")] {
            do throws(ControlError) {
                _ = try client.ask(command, of: 1)
                Issue.record("it was done")
            } catch {
                #expect(error.description == "process 1: \(reason)")
            }
        }
    }

    @Test("several hosts are told apart, and each answers for itself; one that ends is no longer there")
    func several() throws {
        let (own, parent) = (getpid(), getppid())
        let first = try serve(own, "own")
        let second = try serve(parent, "parent's")
        defer { second.stop() }
        let client = ControlClient(in: folder)
        #expect(client.processes == [own, parent].sorted())
        #expect(try client.ask(.status, of: own) == "own")
        #expect(try client.ask(.status, of: parent) == "parent's")
        first.stop()
        first.stop()
        #expect(client.processes == [parent])
        #expect(access(path(own), F_OK) != 0)
        #expect(throws: ControlError.self) { try client.ask(.pause, of: own) }
    }

    @Test("what a dead host left behind is removed, and nothing else")
    func stale() throws {
        let server = try serve(getpid())
        defer { server.stop() }
        // Above the kernel's greatest number: no process has it.
        let dead: Int32 = 1 << 30
        for process in [dead, getppid()] {
            let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path(process).utf8) }
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(bound == 0)
            close(listener)
        }
        for name in ["control-x.sock", "control-0.sock", "control-99999999999.sock", "link.sock", "control-7.sock"] {
            let file = open("\(folder.path)/\(name)", O_CREAT | O_WRONLY, 0o600)
            close(file)
        }
        #expect(ControlClient(in: folder).processes == [getpid()])
        #expect(access(path(dead), F_OK) != 0)
        // A process of that number lives: its socket may be one that is just being made.
        #expect(access(path(getppid()), F_OK) == 0)
        #expect(access("\(folder.path)/control-7.sock", F_OK) == 0)
    }

    @Test(
        "foreign text is answered by what would be right",
        arguments: [
            "\n", "pause\n", "{\"command\":\"PAUSE\"}\n", "{\"command\":\"pause\"\n", "{\"command\":\"pause\"}}\n",
            "GET / HTTP/1.1\r\n",
            String(repeating: "x", count: ControlLine.requestLimit), "\u{0}\n",
        ])
    func foreign(_ text: String) throws {
        let server = try serve(getpid())
        defer { server.stop() }
        let connection = try connect(getpid())
        try connection.enqueue(header: Array(text.utf8))
        let answer = try readAll(connection)
        let reason = text.utf8.last == 0x0A ? CommandError.unknown.description : "the line is too long"
        #expect(answer == ControlAnswer.refused(reason, .invalid).json + "\n")
        #expect(asked.commands.withLock { $0.isEmpty })
        #expect(try ControlClient(in: folder).ask(.pause, of: getpid()) == "done")
    }

    @Test("a command may come byte by byte, and what follows its line is not read")
    func drops() throws {
        let server = try serve(getpid())
        defer { server.stop() }
        let connection = try connect(getpid())
        for byte in "{\"command\":\"resume\"}\n{\"command\"".utf8.prefix(21) { try connection.enqueue(header: [byte]) }
        #expect(try readAll(connection) == "{\"done\":\"done\"}\n")
        #expect(asked.commands.withLock { $0 } == [.resume])
    }

    @Test("random bytes never end the server")
    func garbage() throws {
        let server = try serve(getpid())
        defer { server.stop() }
        var random = SeededRandom(seed: 9)
        for _ in 0..<100 {
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let connection = try eventually("room in the listener's queue") { try? connect(getpid()) }
            try? connection.enqueue(header: bytes)
            connection.close()
        }
        let client = ControlClient(in: folder)
        #expect(try eventually("an answer") { try? client.ask(.status, of: getpid()) } == "done")
    }

    @Test("who connects and stays silent holds nobody up, and is closed in 2 s; of more than eight the oldest goes")
    func silent() throws {
        let server = try serve(getpid())
        defer { server.stop() }
        #expect(ControlLine.timeoutMilliseconds == 2000)
        let (began, idle) = try eventually("an answer beside those who are silent", within: .seconds(90)) {
            () throws -> (MonotonicTime, [SocketConnection])? in
            let began = now()
            let idle = try (0..<12).map { _ in try connect(getpid()) }
            let answer = try? ControlClient(in: folder).ask(.pause, of: getpid())
            for connection in idle.prefix(4) { #expect(try readAll(connection) == "") }
            let isYoungestOpen = isOpen(idle[11])
            // Later the oldest may have been closed for their silence: who was held up for so long tries again.
            let isInTime = now() - began < .milliseconds(1900)
            return isInTime && isYoungestOpen && answer == "done" ? (began, idle) : nil
        }
        for connection in idle { #expect(try readAll(connection) == "") }
        #expect(now() - began > .milliseconds(1900))
    }

    private func isOpen(_ connection: SocketConnection) -> Bool {
        var buffer: [UInt8] = [0]
        return (try? connection.receive(into: &buffer)) == .wouldBlock
    }

    @Test("a host that hangs is given up after 2 s", .timeLimit(.minutes(5)))
    func hanging() throws {
        try folder.prepare()
        #expect(ControlLine.timeoutMilliseconds == 2000)
        let listener = try SocketListener(path: path(getpid()))
        defer { listener.close() }
        let began = now()
        let error = #expect(throws: ControlError.self) {
            try ControlClient(in: folder).ask(.stop, of: getpid())
        }
        #expect(error?.description == "process \(getpid()) did not answer")
        #expect(now() - began > .milliseconds(1900))
        // It still hangs: only now it takes who has asked, and has gone.
        let asking = try #require(try listener.accept())
        #expect(try readAll(asking) == "{\"command\":\"stop\"}\n")
    }
}
