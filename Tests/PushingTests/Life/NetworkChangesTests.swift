import Glibc
import H264
import MediaTypes
import OutputLife
import Processes
import ScreenRelayKit
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Pushing

@Suite("A change of the way to other networks")
struct NetworkChangesTests {
    private final class Changes: Sendable {
        private let changes = Mutex<[NetworkChange]>([])
        var all: [NetworkChange] { changes.withLock { $0 } }
        func take(_ change: NetworkChange) { changes.withLock { $0.append(change) } }
    }

    @Test(
        "is told once when the default route comes, moves or goes, or its link does",
        .enabled(if: OwnNetwork.isPossible, "ip and the rights of root are needed"))
    func told() throws {
        let failure = OwnNetwork.run {
            let told = Changes()
            let changes = try #require(NetworkChanges())
            let unsubscribe = changes.subscribe { told.take($0) }
            defer { unsubscribe() }
            var expected: [NetworkChange] = []
            for (command, change) in [
                ("ip route add default via 192.0.2.2", NetworkChange.found),
                ("ip route replace default via 192.0.2.3", .moved),
                ("ip link set far down", .lost), ("ip link set far up", .found),
                // The kernel says nothing of the route that goes with it.
                ("ip link set near down", .lost),
                (
                    "ip link set near up; ip route add default via 192.0.2.2; ip route replace default via 192.0.2.3",
                    .found
                ),
                // The kernel takes the other one as long as that is there.
                ("ip route add default via 192.0.2.4 metric 99; ip route add 198.51.100.0/24 via 192.0.2.4", nil),
                ("ip route del default", .moved),
            ] as [(String, NetworkChange?)] {
                try OwnNetwork.shell(command)
                guard let change else { continue }
                expected.append(change)
                try eventually("\(change) after '\(command)'") { told.all.count >= expected.count }
                try #require(told.all == expected, "\(command)")
            }
        }
        if let failure { throw failure }
    }

    @Test("lets the push connect anew or end, as its user says, and a lost network waits")
    func push() throws {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(host.firstTrack.publish(track))
        let pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        track.write(pictures[0])
        let listener = try TestSocket(listening: .tcp)
        defer { listener.close() }
        let port = listener.port
        var connections: [TestSocket] = []
        func isConnected(_ count: Int) throws -> Bool {
            if listener.hasNext { connections.append(try listener.accepted()) }
            return connections.count == count
        }

        let asked = Changes()
        var settings = PushSettings()
        settings.goesOnAfterNetworkChange = {
            asked.take($0)
            return $0 != .found
        }
        let push = try Push(
            host.firstTrack, to: try PushAddress("rtmp://127.0.0.1:\(port)/live/key"), settings: settings)
        // Nobody is asked before it runs.
        push.mailbox.post(.networkChanged(.moved))
        push.start()
        try eventually("it connects") { try isConnected(1) }
        push.mailbox.post(.networkChanged(.moved))
        try eventually("it connects anew") { try isConnected(2) }
        push.mailbox.post(.networkChanged(.lost))
        try eventually("its user knows of the loss") { asked.all == [.moved, .lost] }
        #expect(push.state == .connecting)
        push.mailbox.post(.networkChanged(.found))
        try eventually("it has ended") { push.state == .disconnected }
        #expect(asked.all == [.moved, .lost, .found])
        #expect(try isConnected(2))
    }

    @Test(
        "reaches a push, which asks its user",
        .enabled(if: OwnNetwork.isPossible, "ip and the rights of root are needed"))
    func reachesPush() throws {
        let failure = OwnNetwork.run {
            let host = try ScreenRelayHost(HostConfiguration())
            defer { host.stop() }
            let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
            try #require(host.firstTrack.publish(track))
            track.write(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())[0])
            let asked = Changes()
            var settings = PushSettings()
            settings.goesOnAfterNetworkChange = {
                asked.take($0)
                return false
            }
            let changes = try #require(NetworkChanges())
            let push = try Push(
                FollowedTrack(host.firstTrack), to: PushTarget(try PushAddress("rtmp://192.0.2.9/app/key")),
                settings: settings, changes: { changes })
            push.start()
            try eventually("it connects") { push.state == .connecting }
            try OwnNetwork.shell("ip route add default via 192.0.2.2")
            try eventually("it is asked, and ends") { push.state == .disconnected }
            try #require(asked.all == [.found])
        }
        if let failure { throw failure }
    }

    @Test("is looked for on a thread of the push's own, so that adding a push doesn't wait for the kernel")
    func lateRoutes() throws {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let isMade = Flag()
        let wasMade = Mutex<Bool?>(nil)
        let target = PushTarget(try PushAddress("rtmp://192.0.2.9/app/key"))
        let push = try Push(
            FollowedTrack(host.firstTrack), to: target, settings: PushSettings(),
            changes: {
                // As long as the kernel's answer may take.
                for _ in 0..<500 where !isMade.isSet { poll(nil, 0, 10) }
                wasMade.withLock { $0 = isMade.isSet }
                return nil
            })
        isMade.set()
        #expect(try eventually("it is looked for") { wasMade.withLock { $0 } })
        withExtendedLifetime(push) {}
    }

    @Test(
        "concerns pushes to other machines alone",
        arguments: [
            ("rtmp://live.example/app/key", true), ("rtmps://192.0.2.1:443/app/key", true),
            ("srt://[2001:db8::1]:9000", true), ("rtmp://127.example/app", true), ("file:talk.mp4", false),
            ("rtmp://localhost/app/key", false), ("rtmp://user:secret@127.0.0.1:1935/app/key", false),
            ("srt://[::1]:9000?passphrase=secret", false),
        ])
    func addresses(_ url: String, _ isRemote: Bool) throws {
        #expect(try PushAddress(url).isRemote == isRemote)
    }
}

/// A network of a thread's own, which has an interface but no way to other networks.
private enum OwnNetwork {
    static let isPossible = geteuid() == 0 && ProgramLookup.path(of: "ip") != nil && run {} == nil

    /// Runs `body` on a thread of its own inside, and waits for it; gives what it throws.
    static func run(_ body: @escaping () throws -> Void) -> (any Error)? {
        let box = Box(body)
        NamedThread("own network") { box.perform() }?.join()
        return box.failure
    }

    /// Carries out commands in the calling thread's network.
    static func shell(_ commands: String) throws {
        let run = try ChildProcess.run(Launch("sh", ["-e", "-c", commands]), within: .seconds(10))
        try #require(run.status == .exited(0), "\(commands): \(run.errorOutput)")
    }

    /// Unchecked: it is used by one thread at a time, the one that waits and the one that works.
    private final class Box: @unchecked Sendable {
        private let body: () throws -> Void
        private(set) var failure: (any Error)?

        init(_ body: @escaping () throws -> Void) { self.body = body }

        func perform() {
            do {
                typealias Unshare = @convention(c) (Int32) -> Int32
                let network: Int32 = 0x4000_0000
                let unshare = try #require(dlsym(nil, "unshare"))
                try #require(unsafeBitCast(unshare, to: Unshare.self)(network) == 0, "no network of our own")
                try OwnNetwork.shell(
                    """
                    ip link set lo up
                    ip link add near type veth peer name far
                    ip address add 192.0.2.1/24 dev near
                    ip link set near up
                    ip link set far up
                    """)
                try body()
            } catch {
                failure = error
            }
        }
    }
}
