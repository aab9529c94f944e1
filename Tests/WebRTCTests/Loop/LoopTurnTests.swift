import MediaSessions
import MediaTypes
import STUN
import TestSupport
import Testing
import Threading

@testable import WebRTC

@Suite("A turn of the media thread")
struct LoopTurnTests {
    @Test(
        "receives for 20 ms, or as long as the last turn took to send, up to 200 ms",
        arguments: [(0, 20), (90, 90), (5000, 200)])
    func datagrams(sending: Int64, receiving: Int64) throws {
        let (loop, address) = try firstLoop(Rig())
        loop.sendingTime = .milliseconds(sending)
        let stranger = try DatagramSocket(to: address)
        for _ in 0..<400 { stranger.send([0xFF]) }
        // As if 16 datagrams took 20 ms.
        var now = MonotonicTime.zero
        loop.receive {
            defer { now = now + .milliseconds(20) }
            return now
        }
        var buffer = [UInt8](repeating: 0, count: 16)
        var unread = 0
        while loop.socket.udp.receive(into: &buffer) != nil { unread += 1 }
        #expect(unread == 400 - 16 * Int(receiving / 20 + 1))
    }

    @Test("sends to each session at the time by then, not at that of the turn's beginning")
    func sendTimes() throws {
        let rig = try Rig()
        let (loop, _) = try firstLoop(rig)
        for _ in 0..<3 {
            let peer = try rig.join()
            loop.sessions.add(peer.session, now: rig.now) { _ in }
            loop.enlist(peer.session)
        }
        rig.publish { Pictures.idr(captured: $0) }
        rig.run(for: .seconds(1))
        rig.hub.publish(Pictures.delta(500, seed: 1, captured: rig.now), epoch: 1, arrival: rig.now)
        #expect(rig.feed.update(now: rig.now))
        let before = rig.feed.record.times
        var now = rig.now
        loop.sendFrames(of: [rig.feed]) {
            // As if each session took 100 ms.
            defer { now = now + .milliseconds(100) }
            return now
        }
        #expect(rig.feed.record.times.count == before.count + 3)
        #expect(rig.feed.record.times.sum - before.sum == .milliseconds(300))
    }

    @Test("how much came in the last second, and how old it is, doesn't depend on the time since the feeds were read")
    func longTurn() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(captured: $0) }
        rig.run(for: .seconds(2))
        for number in 0..<30 {
            rig.publish { Pictures.delta(1000, seed: UInt64(number), captured: $0) }
            rig.run(for: .milliseconds(30))
        }
        let rate = rig.feed.bitRate.bitsPerSecond
        #expect(rate > 200_000)
        rig.run(for: .milliseconds(700), updatesFeed: false)
        #expect(rig.feed.bitRate.bitsPerSecond == rate)
        #expect(peer.session.isConnected)
    }

    @Test("sessions that return from the low layer ask for one key frame in 2 s, however many they are")
    func returns() throws {
        let rig = try Rig()
        _ = try rig.join()
        rig.publish { Pictures.idr(captured: $0) }
        rig.run(for: .seconds(3))
        let before = rig.source.keyFrameRequests
        for _ in 0..<40 {
            rig.feed.requestReturn(now: rig.now)
            // The source answers each.
            rig.publish { Pictures.idr(1000, captured: $0) }
            rig.run(for: .milliseconds(100))
        }
        #expect(rig.source.keyFrameRequests - before == 2)
    }

    @Test("handles what the first thread has passed on for some time, and leaves the rest to the next turn")
    func arrivals() throws {
        let rig = try Rig()
        let loop = try secondLoop(rig)
        let check = CheckRequest(username: "nobody:peer", password: "password").bytes
        let peer = TransportAddress(ipv4: 198, 51, 100, 9, port: 4321)
        var received = ReceivedDatagrams()
        for _ in 0..<500 { received.append(check[...], along: NetworkPath(peer: peer, local: peer)) }
        // To read 100,000 checks takes longer than a turn may.
        loop.arrivals = [MediaCommand](repeating: .datagrams(received), count: 200)
        loop.handleArrivals()
        let left = loop.arrivals.count
        #expect((1..<200).contains(left))
        loop.handleArrivals()
        #expect(loop.arrivals.count < left)
    }

    @Test("counts what the first thread could not pass on to a thread that is too slow")
    func overload() throws {
        let rig = try Rig()
        let loop = try secondLoop(rig)
        let shared = loop.group.loops[1]
        let peer = TransportAddress(ipv4: 198, 51, 100, 9, port: 4321)
        var received = ReceivedDatagrams()
        for _ in 0..<1000 { received.append([0xFF], along: NetworkPath(peer: peer, local: peer)) }
        for _ in 0..<7 { shared.post(received) }
        loop.shareStatistics(now: rig.now)
        #expect(shared.statistics.totals.drops.overloadPackets == 2000)
        shared.datagramsTaken(5000)
        shared.post(received)
        #expect(shared.lostDatagrams == 2000)
    }

    /// The second loop of a group, which doesn't run.
    private func secondLoop(_ rig: Rig) throws -> MediaLoop {
        let sockets = try MediaSockets(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        guard let group = LoopGroup(count: 2) else { throw DeadlineMissed(what: "a descriptor") }
        return MediaLoop(
            1, of: group, sockets: sockets, context: rig.context, stunServers: [], sharedAddresses: SharedAddresses(),
            lines: LogRateLimiter(.silent))
    }

    /// The only loop of a group, which doesn't run, and its address.
    private func firstLoop(_ rig: Rig) throws -> (loop: MediaLoop, address: TransportAddress) {
        let configuration = MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        let sockets = try MediaSockets(configuration, log: .silent)
        let address = sockets.address
        guard let group = LoopGroup(count: 1) else { throw DeadlineMissed(what: "a descriptor") }
        let loop = MediaLoop(
            LoopGroup.first, of: group, sockets: sockets, context: rig.context, stunServers: [],
            sharedAddresses: SharedAddresses(), lines: LogRateLimiter(.silent))
        return (loop, address)
    }
}
