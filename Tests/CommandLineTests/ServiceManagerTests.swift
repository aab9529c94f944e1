import CommandLine
import Glibc
import MediaTypes
import TestSupport
import Testing

@Suite("The service manager")
struct ServiceManagerTests {
    private func found(_ variables: [String: String]) -> ServiceManager? {
        ServiceManager(environment: { variables[$0] })
    }

    @Test("gets each piece of news as one message, at a path or an abstract name", arguments: [false, true])
    func news(isAbstract: Bool) throws {
        let socket = try NotificationSocket(isAbstract: isAbstract)
        let manager = try #require(found(["NOTIFY_SOCKET": socket.path]))
        manager.tell(.ready(status: "one\nline"))
        manager.tell(.ready())
        manager.tell(.reloading(since: MonotonicTime(nanoseconds: 1_234_567_890)))
        manager.tell(.alive)
        manager.tell(.stopping)
        let expected = [
            "READY=1\nSTATUS=one\\nline", "READY=1", "RELOADING=1\nMONOTONIC_USEC=1234567", "WATCHDOG=1", "STOPPING=1",
        ]
        for message in expected { #expect(socket.next() == message) }
        #expect(socket.next() == nil)
    }

    @Test("is there only if the environment names a socket, which may be gone")
    func none() throws {
        let long = "/" + String(repeating: "x", count: 107)
        #expect(found([:]) == nil)
        for path in ["", "notify", long] { #expect(found(["NOTIFY_SOCKET": path]) == nil) }
        try #require(found(["NOTIFY_SOCKET": "/nowhere/notify"])).tell(.ready())
    }

    @Test("hears of life three times in the time that its watchdog allows, if that is for this process")
    func watchdog() throws {
        func interval(_ variables: [String: String]) throws -> Interval? {
            let all = variables.merging(["NOTIFY_SOCKET": "/run/notify"]) { $1 }
            return try #require(found(all)).watchdogInterval
        }
        #expect(try interval([:]) == nil)
        #expect(try interval(["WATCHDOG_USEC": "3000000"]) == .seconds(1))
        #expect(try interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "\(getpid())"]) == .seconds(1))
        #expect(try interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"]) == nil)
        for wrong in ["", "0", "-1", "x"] { #expect(try interval(["WATCHDOG_USEC": wrong]) == nil) }
    }
}

@Suite("Inherited sockets")
struct InheritedSocketTests {
    /// What the variables say, for this process unless they name another one.
    private func sockets(_ variables: [String: String]) throws(UsageError) -> [InheritedSocket] {
        let all = ["LISTEN_PID": "\(getpid())"].merging(variables) { $1 }
        return try InheritedSocket.all(environment: { all[$0] })
    }

    @Test("have the numbers from 3 on, and the names of their units")
    func names() throws {
        #expect(
            try sockets(["LISTEN_FDS": "2", "LISTEN_FDNAMES": "http:rtsp"])
                == [InheritedSocket(name: "http", descriptor: 3), InheritedSocket(name: "rtsp", descriptor: 4)])
        #expect(
            try sockets(["LISTEN_FDS": "1", "LISTEN_FDNAMES": ""]) == [InheritedSocket(name: "unknown", descriptor: 3)])
        #expect(try sockets(["LISTEN_FDS": "1"]) == [InheritedSocket(name: "unknown", descriptor: 3)])
    }

    @Test("are only those of this process")
    func others() throws {
        #expect(try sockets([:]).isEmpty)
        #expect(try sockets(["LISTEN_FDS": "0"]).isEmpty)
        #expect(try sockets(["LISTEN_FDS": "1", "LISTEN_PID": "1"]).isEmpty)
        #expect(try sockets(["LISTEN_FDS": "1", "LISTEN_PID": ""]).isEmpty)
    }

    @Test("that contradict each other are one line, and the command line's exit code")
    func contradictions() {
        for (count, names) in [("2", "http"), ("1", "http:rtsp"), ("x", "http"), ("-1", "http"), ("9999999", "http")] {
            let error = #expect(throws: UsageError.self) {
                try sockets(["LISTEN_FDS": count, "LISTEN_FDNAMES": names])
            }
            #expect(error?.exitCode == .usage)
            #expect(error?.description.contains("\n") == false)
        }
    }
}
