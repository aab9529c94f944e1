import Clocks
import MediaSessions
import MediaTypes
import RTP
import STUN
import TestSupport
import Testing
import Threading

@testable import WebRTC

@Suite("A turn of the media thread")
struct LoopTurnTests {
    @Test(
        "receives from peers for 20 ms, or as long as the last turn took to send, up to 200 ms",
        arguments: [(0, 20), (90, 90), (5000, 200)])
    func peers(sending: Int64, receiving: Int64) throws {
        try expectReceiving(for: .milliseconds(receiving), after: .milliseconds(sending)) { number in
            // A check that makes the address a peer's, and then what may be reports.
            number == 0
                ? CheckRequest(username: "host0:peer", password: "a password of the host").bytes
                : [0x80, 205, 0, 1, 0, 0, 0, 1]
        }
    }

    @Test("receives from strangers for 20 ms, however long the last turn took to send")
    func strangers() throws {
        try expectReceiving(for: .milliseconds(20), after: .milliseconds(90)) { _ in [0xFF] }
        try expectReceiving(for: .milliseconds(20), after: .milliseconds(90)) { _ in
            CheckRequest(username: "host0:peer", password: "wrong").bytes
        }
    }

    /// Expects that a loop with one session receives so long, if the last turn took `sending` for all else.
    private func expectReceiving(
        for receiving: Interval, after sending: Interval, _ datagram: (_ number: Int) -> [UInt8]
    ) throws {
        let count = 400
        // A busy machine may deliver a datagram late; hardly five times in a row.
        let isDone = try (1...5).contains { _ in
            let rig = try Rig()
            let (loop, address) = try firstLoop(rig)
            loop.sessions.add(try rig.addPeer().session, now: rig.now) { _ in }
            loop.sendingTime = sending
            let socket = try DatagramSocket(to: address)
            for number in 0..<count { socket.send(datagram(number)) }
            // As if 16 datagrams took 20 ms.
            var now = rig.now
            loop.receive {
                defer { now = now + .milliseconds(20) }
                return now
            }
            var buffer = [UInt8](repeating: 0, count: 256)
            var unread = 0
            while loop.socket.udp.receive(into: &buffer) != nil { unread += 1 }
            return unread == count - 16 * Int(receiving.milliseconds / 20 + 1)
        }
        #expect(isDone)
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

    @Test("sends what reports make due only when all datagrams of the turn are read")
    func reports() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(1000, captured: $0) }
        rig.run(for: .seconds(1))
        let before = peer.link.media.count
        rig.hub.publish(Pictures.delta(500, seed: 1, captured: rig.now), epoch: 1, arrival: rig.now)
        #expect(rig.feed.update(now: rig.now))
        peer.viewer.send(.pictureLossIndication(PictureLossIndication(sender: SSRC(1), media: SSRC(0x1122_3344))))
        for datagram in peer.viewer.takeOutgoing() { peer.deliver(datagram, now: rig.now) }
        #expect(peer.link.media.count == before)
        #expect(peer.session.deadline <= rig.now)
        peer.session.advance(now: rig.now)
        #expect(peer.link.media.count > before)
    }

    @Test(
        "a report that waited for the thread shows the path's round trip, unless the wall clock was set meanwhile",
        arguments: [false, true])
    func unreadReports(isClockSet: Bool) throws {
        // A busy machine may deliver a datagram late; hardly five times in a row.
        let isDone = try (1...5).contains { _ in
            let rig = try Rig()
            let (loop, address) = try firstLoop(rig)
            let peer = try rig.join()
            loop.sessions.add(peer.session, now: rig.now) { _ in }
            rig.publish { Pictures.idr(1000, captured: $0) }
            rig.run(for: .seconds(2))
            let socket = try DatagramSocket(to: address)
            // From here on, as much time passes as by the clock that the kernel goes by.
            let (start, began) = (rig.now, MonotonicTime.now())
            let clock = { start + (MonotonicTime.now() - began) }
            socket.send(peer.viewer.checkRequest(nominates: false).bytes)
            loop.receive(clock: clock)
            peer.viewer.report(now: start)
            for datagram in peer.viewer.takeOutgoing() { socket.send(datagram) }
            let sentAt = clock()
            try eventually("a report that is 200 ms old", holds: { clock() - sentAt >= .milliseconds(200) })
            if isClockSet { loop.unixOffset = loop.unixOffset - .seconds(3600) }
            loop.receive(clock: clock)
            let statistics = peer.session.statistics
            guard statistics.lostPackets != nil, let roundTrip = statistics.roundTripTime else { return false }
            return isClockSet ? roundTrip >= .milliseconds(200) : roundTrip < .milliseconds(100)
        }
        #expect(isDone)
    }

    @Test("sound that came just before a long turn is sent in it")
    func sound() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join()
        rig.play(3)
        let before = peer.link.media.count
        let track = rig.tracks[1]
        rig.run(for: .milliseconds(10))
        let last = try #require(track.published.last)
        let sound = CodedFrame(
            bytes: last.bytes, units: last.units, isRandomAccess: true, captureTime: rig.now - .milliseconds(10),
            format: last.format)
        track.hub.publish(sound, epoch: 1, arrival: rig.now)
        #expect(track.feed.update(now: rig.now))
        peer.session.advanceMedia(now: rig.now + .milliseconds(400))
        #expect(peer.link.media.count == before + 1)
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
        for _ in 0..<500 { received.append(check[...], along: NetworkPath(peer: peer, local: peer), arrival: rig.now) }
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
        for _ in 0..<1000 { received.append([0xFF], along: NetworkPath(peer: peer, local: peer), arrival: rig.now) }
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
