import CommandLine
import Glibc
import MediaTypes
import ScreenRelayKit
import TestSupport
import Testing
import Threading

@testable import Commands

@Suite("The service manager's watchdog")
struct WatchdogTests {
    @Test("gets signs of life as long as the signalling thread works, and none while it is stuck")
    func stuck() throws {
        let socket = try NotificationSocket()
        let variables = ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "300000"]
        let manager = try #require(ServiceManager(environment: { variables[$0] }))
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let watchdog = try #require(Watchdog.start(manager, of: host, log: .silent))
        defer { watchdog.stop() }
        func expectSigns() throws {
            for _ in 0..<3 { try eventually("a sign of life", holds: { socket.next() == "WATCHDOG=1" }) }
        }
        try expectSigns()

        let isStuck = Flag()
        let end = try #require(EventFD())
        defer { end.signal() }
        host.ping {
            isStuck.set()
            end.wait()
        }
        try eventually("the stuck thread", holds: { isStuck.isSet })
        while socket.next() != nil {}
        // The time of ten signs. The thread may have given the answer for one just before.
        let deadline = now() + .seconds(1)
        var count = 0
        while now() < deadline {
            if socket.next() != nil { count += 1 }
            poll(nil, 0, 5)
        }
        #expect(count <= 1)

        end.signal()
        try expectSigns()
    }

    @Test("isn't answered if the manager has none")
    func none() throws {
        let manager = try #require(ServiceManager(environment: { $0 == "NOTIFY_SOCKET" ? "/nowhere/notify" : nil }))
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        #expect(Watchdog.start(manager, of: host, log: .silent) == nil)
    }
}
