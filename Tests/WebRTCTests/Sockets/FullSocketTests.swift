import Glibc
import MediaTypes
import Processes
import STUN
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("A socket without room")
struct FullSocketTests {
    @Test("what waits goes out in its order, as far as there is room, and no more waits than may")
    func order() {
        var waiting = WaitingDatagrams()
        let path = NetworkPath(
            peer: TransportAddress(ipv4: 192, 0, 2, 1, port: 1), local: TransportAddress(ipv4: 192, 0, 2, 2, port: 2))
        var sent: [[UInt8]] = []
        for number in UInt8(0)..<10 { waiting.append([number], along: path) }
        func drain(room: Int) {
            var room = room
            waiting.drain { bytes, _ in
                guard room > 0 else { return false }
                room -= 1
                sent.append(bytes)
                return true
            }
        }
        drain(room: 0)
        drain(room: 4)
        #expect(!waiting.isEmpty)
        waiting.append([10], along: path)
        drain(room: 100)
        #expect(waiting.isEmpty)
        #expect(sent == (UInt8(0)...10).map { [$0] })
        let kept = (0..<WaitingDatagrams.limit + 5).count { _ in waiting.append([0], along: path) }
        #expect(kept == WaitingDatagrams.limit)
        sent = []
        drain(room: .max)
        #expect(sent.count == WaitingDatagrams.limit)
    }

    @Test("a session stops at the first packet that has to wait, and goes on in the middle of its picture")
    func session() throws {
        let rig = try Rig()
        let peer = try rig.join()
        peer.link.hasRoom = false
        rig.publish { Pictures.idr(30_000, captured: $0) }
        rig.publish { Pictures.delta(3_000, seed: 1, captured: $0) }
        rig.run(for: .milliseconds(100))
        #expect(peer.link.media.count == 1 && peer.session.isStalled)
        peer.session.resume(now: rig.now)
        #expect(peer.link.media.count == 2 && peer.session.isStalled)
        peer.link.hasRoom = true
        peer.session.resume(now: rig.now)
        #expect(!peer.session.isStalled)
        rig.run(for: .milliseconds(100))
        #expect(peer.wholePictures == rig.published.map(\.contents))
        #expect(peer.viewer.sentNacks == 0)
    }

    @Test(
        "a key frame for several viewers gets to all of them whole and evenly through a send buffer for three packets",
        .enabled(if: SlowNetwork.isPossible, "tc and the rights of root are needed"))
    func keyFrame() throws {
        let failure = SlowNetwork.run { try keyFrameInside() }
        if let failure { throw failure }
    }

    private func keyFrameInside() throws {
        var configuration = MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        // A thread gives its own viewers even turns.
        configuration.threadCount = 1
        let server = try MediaServer(configuration, log: .silent)
        defer { server.stop() }
        try #require(shrinkSendBuffer(ofSocketAt: server.port))
        let hub = TrackHub(origin: now())
        hub.connect(source: RecordingSource())
        let address = TransportAddress(ipv4: 127, 0, 0, 1, port: server.port)
        let viewers = try (0..<3).map { _ in try SocketViewer(of: server, watching: hub, at: address) }
        for viewer in viewers {
            viewer.viewer.repairsLosses = false
            try viewer.connect()
        }
        let late = try SocketViewer(of: server, watching: hub, at: address)
        let idr = Pictures.idr(400_000, captured: now())
        hub.publish(idr, epoch: 1, arrival: now())
        var last = idr
        for seed in UInt64(1)...3 {
            last = Pictures.delta(20_000, seed: seed, captured: now())
            hub.publish(last, epoch: 1, arrival: now())
        }
        var wereEven = true
        var most = 0
        func pumpAll() {
            viewers.forEach { $0.pump() }
            let counts = viewers.map(\.viewer.packets.count)
            // The pacer lets 48 go at once. The last round's most: what comes while this thread waits for the processor
            // between two viewers isn't read from the first of them before this round.
            if let least = counts.min(), most - least > 100 { wereEven = false }
            most = counts.max() ?? 0
        }
        // Checks and the handshake of one who comes now have their turn too.
        var nextCheck = now()
        try eventually("a connection in the middle of it") {
            pumpAll()
            if now() >= nextCheck, !late.viewer.isConnected {
                late.viewer.check()
                nextCheck = now() + .milliseconds(300)
            }
            late.pump()
            return late.viewer.isConnected
        }
        try eventually("the last picture at all viewers") {
            pumpAll()
            late.pump()
            return viewers.allSatisfy { $0.shows(last) }
        }
        #expect(viewers.allSatisfy { $0.viewer.pictures.count == 4 })
        #expect(wereEven)
    }

    /// Gives the socket that is bound to `port` the smallest send buffer that the kernel knows.
    private func shrinkSendBuffer(ofSocketAt port: UInt16) -> Bool {
        for descriptor in Int32(3)..<1024 {
            guard TransportAddress(localEndOf: descriptor)?.port == port else { continue }
            var (kind, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            // TCP has a port of the same number.
            guard getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0, kind == SOCK_DGRAM.rawValue else {
                continue
            }
            var room: Int32 = 1
            return setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size)) == 0
        }
        return false
    }
}

/// A network of a thread's own whose loopback carries 20 Mbit/s and has room for all that waits for that.
private enum SlowNetwork {
    static let isPossible = geteuid() == 0 && ProgramLookup.path(of: "tc") != nil && run {} == nil

    /// Runs `body` on a thread of its own inside, and waits for it; gives what it throws.
    static func run(_ body: @escaping () throws -> Void) -> (any Error)? {
        let box = Box(body)
        NamedThread("slow network") { box.perform() }?.join()
        return box.failure
    }

    /// Unchecked: it is used by one thread at a time, the one that waits and the one that works.
    private final class Box: @unchecked Sendable {
        private let body: () throws -> Void
        private(set) var failure: (any Error)?

        init(_ body: @escaping () throws -> Void) { self.body = body }

        func perform() {
            do {
                try enter()
                try body()
            } catch {
                failure = error
            }
        }

        /// Programs that this thread starts are inside too.
        private func enter() throws {
            typealias Unshare = @convention(c) (Int32) -> Int32
            let network: Int32 = 0x4000_0000
            let unshare = try #require(dlsym(nil, "unshare"))
            try #require(unsafeBitCast(unshare, to: Unshare.self)(network) == 0, "no network of our own")
            for words in [
                "ip link set lo up", "tc qdisc add dev lo root tbf rate 20mbit burst 8kb limit 8mb",
            ] {
                let parts = words.split(separator: " ").map(String.init)
                let run = try ChildProcess.run(Launch(parts[0], Array(parts.dropFirst())), within: .seconds(10))
                try #require(run.status == .exited(0), "\(words): \(run.errorOutput)")
            }
        }
    }
}
