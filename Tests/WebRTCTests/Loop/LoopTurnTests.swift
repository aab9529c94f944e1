import MediaSessions
import MediaTypes
import STUN
import TestSupport
import Testing
import Threading

@testable import WebRTC

@Suite("A turn of the media thread")
struct LoopTurnTests {
    @Test("receives for some time, and for as long as the last turn took to send, and leaves the rest to the next turn")
    func datagrams() throws {
        let rig = try Rig()
        let check = CheckRequest(username: "nobody:peer", password: "password").bytes
        // To handle so many checks takes longer than a turn may always receive.
        #expect(try unread(of: check, 9000, after: .zero, rig) > 0)
        #expect(try unread(of: check, 9000, after: .seconds(60), rig) == 0)
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

    /// How many of `count` datagrams the first loop leaves in its socket, if the last turn took `time` to send.
    private func unread(of datagram: [UInt8], _ count: Int, after time: Interval, _ rig: Rig) throws -> Int {
        let (loop, address) = try firstLoop(rig)
        loop.sendingTime = time
        let stranger = try DatagramSocket(to: address)
        for _ in 0..<count { stranger.send(datagram) }
        loop.receive()
        var buffer = [UInt8](repeating: 0, count: 256)
        var unread = 0
        while loop.socket.udp.receive(into: &buffer) != nil { unread += 1 }
        return unread
    }
}
