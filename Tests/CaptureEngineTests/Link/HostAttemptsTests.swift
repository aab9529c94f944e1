import Clocks
import LinkTransport
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading

@testable import HostConnection

@Suite("attempts to reach the host")
struct HostAttemptsTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test("a host that isn't there is tried again, twice as late each time up to 2 s, and that is said once")
    func backOff() throws {
        let folder = try TemporaryFolder()
        let lines = Mutex<[String]>([])
        let log = EventLog { _, line in lines.withLock { $0.append(line) } }
        var attempts = HostAttempts(.unix(path: folder.file("link.sock")), token: nil, log: log)
        #expect(attempts.deadline <= start)
        var time = start
        var delays: [Int64] = []
        for _ in 0..<7 {
            #expect(try attempts.connection(time) == nil)
            delays.append((attempts.deadline - time).nanoseconds / 1_000_000)
            // Not before that.
            #expect(try attempts.connection(attempts.deadline - .milliseconds(1)) == nil)
            #expect(attempts.deadline == time + .milliseconds(delays.last ?? 0))
            time = attempts.deadline
        }
        #expect(delays == [100, 200, 400, 800, 1600, 2000, 2000])
        #expect(lines.withLock { $0 }.count == 1)
        #expect(lines.withLock { $0 }.first?.hasSuffix("; waiting for it") == true)
        #expect(attempts.descriptor == -1)
    }

    @Test("who was connected for long is back soon, who was sent away at once waits longer each time")
    func lost() throws {
        let folder = try TemporaryFolder()
        let listener = try SocketListener(path: folder.file("link.sock"))
        defer { listener.close() }
        var attempts = HostAttempts(.unix(path: folder.file("link.sock")), token: nil, log: .silent)
        var time = start
        var delays: [Int64] = []
        for stay in [Interval.zero, .zero, .milliseconds(1999), .seconds(2), .zero] {
            let connection = try attempts.connection(time)
            #expect(connection != nil)
            #expect(attempts.deadline == .distantFuture)
            // There is one: nothing to do.
            #expect(try attempts.connection(time) == nil)
            attempts.resume(time + stay, connectedSince: time)
            delays.append((attempts.deadline - (time + stay)).nanoseconds / 1_000_000)
            time = attempts.deadline
        }
        #expect(delays == [100, 200, 400, 100, 200])
    }

    @Test("who gives up tries nothing more, and what can't be mended is said at once")
    func over() throws {
        let folder = try TemporaryFolder()
        var attempts = HostAttempts(.unix(path: folder.file("link.sock")), token: nil, log: .silent)
        attempts.giveUp()
        #expect(try attempts.connection(start) == nil)
        #expect(attempts.deadline == .distantFuture)
        let long = folder.file(String(repeating: "x", count: 200))
        var others = HostAttempts(.unix(path: long), token: nil, log: .silent)
        #expect(throws: SocketError.self) { try others.connection(start) }
    }

    @Test("a refused token ends all attempts, but not where the host had accepted it: another may be in its place")
    func anotherHost() throws {
        let token = LinkToken(Array("a token of some length".utf8))
        let other = LinkToken(Array("another token, of some length".utf8))
        var listener = try SocketListener(at: .tls(host: "127.0.0.1", port: 0), token: token)
        let address = listener.address
        let lines = Mutex<[String]>([])
        let log = EventLog { _, line in lines.withLock { $0.append(line) } }
        var attempts = HostAttempts(address, token: token, log: log)
        // Lets the host take what has come, and the capture go on.
        var hosts: [SocketConnection] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        func advance(_ attempts: inout HostAttempts) throws -> SocketConnection? {
            if let host = try listener.accept() { hosts.append(host) }
            // Which goes on with the handshake.
            for host in hosts { _ = try? host.receive(into: &buffer) }
            return try attempts.connection(MonotonicTime.now())
        }
        let connection = try eventually("the connection") { try advance(&attempts) }
        connection.close()
        hosts.removeAll()
        listener.close()
        listener = try SocketListener(at: address, token: other)
        attempts.resume(MonotonicTime.now(), connectedSince: MonotonicTime.now())
        try eventually(
            "two refusals",
            holds: {
                let again = try advance(&attempts)
                #expect(again == nil)
                return hosts.count > 2
            })
        #expect(lines.withLock { $0 }.filter { $0.hasSuffix("; waiting for it") }.count == 1)
        var first = HostAttempts(address, token: token, log: .silent)
        #expect(throws: SocketError.self) {
            _ = try eventually("the refusal") { try advance(&first) }
        }
        listener.close()
    }
}
