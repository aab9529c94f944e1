import MediaSessions
import MediaTypes
import STUN
import TestSupport
import Testing
import Threading

@testable import WebRTC

@Suite("A turn of the media thread")
struct LoopTurnTests {
    @Test("reads two datagrams for each session and 64 more, and leaves the rest to the next turn")
    func datagrams() throws {
        let rig = try Rig()
        for _ in 0..<20 { _ = try rig.addPeer() }
        // A busy machine may deliver a datagram late; hardly five times in a row.
        let isDone = try (1...5).contains { _ in try unreadDatagrams(of: 110, rig) == 110 - 64 - 2 * 20 }
        #expect(isDone)
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
        loop.handleArrivals(now: rig.now)
        let left = loop.arrivals.count
        #expect((1..<200).contains(left))
        loop.handleArrivals(now: rig.now)
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

    /// How many of so many datagrams a loop with the sessions of `rig` leaves in its socket.
    private func unreadDatagrams(of count: Int, _ rig: Rig) throws -> Int {
        let configuration = MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        let sockets = try MediaSockets(configuration, log: .silent)
        let address = sockets.address
        guard let group = LoopGroup(count: 1) else { throw DeadlineMissed(what: "a descriptor") }
        let loop = MediaLoop(
            LoopGroup.first, of: group, sockets: sockets, context: rig.context, stunServers: [],
            sharedAddresses: SharedAddresses(), lines: LogRateLimiter(.silent))
        for peer in rig.peers { loop.sessions.add(peer.session, now: rig.now) { _ in } }
        let stranger = try DatagramSocket(to: address)
        for _ in 0..<count { stranger.send([0xFF]) }
        loop.receive(now: rig.now)
        var buffer = [UInt8](repeating: 0, count: 16)
        var unread = 0
        while loop.socket.udp.receive(into: &buffer) != nil { unread += 1 }
        return unread
    }
}
