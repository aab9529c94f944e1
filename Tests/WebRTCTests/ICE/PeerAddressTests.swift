import MediaSessions
import MediaTypes
import STUN
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("Whose address it is")
struct PeerAddressTests {
    @Test("an address on which a session is heard is not given to another, until it has been silent for 15 s")
    func silence() throws {
        let rig = try Rig()
        let (first, second) = (try rig.join(), try rig.join())
        var addresses = SessionsByAddress()
        let contested = first.path.peer
        addresses.note(contested, of: first.session, now: rig.now)
        func isFree() -> Bool { addresses.claim(contested, for: second.session, now: rig.now) == .granted }

        rig.run(for: .seconds(40))
        #expect(!isFree(), "checks keep it")
        #expect(addresses.claim(contested, for: first.session, now: rig.now) == .granted, "its own checks may come")
        first.checksOn = false
        for _ in 0..<5 {
            rig.run(for: .seconds(10))
            first.viewer.report(now: rig.now)
        }
        rig.run(for: .seconds(10))
        #expect(!isFree(), "reports alone keep it too")

        first.viewer.report(now: rig.now)
        rig.run(for: .milliseconds(100))
        first.isSilent = true
        rig.run(for: SessionICE.addressReservation - .milliseconds(200))
        #expect(!isFree())
        // What it had sent before may have come up to a path's delay later.
        rig.run(for: .milliseconds(400))
        #expect(isFree())
        #expect(first.session.end == nil, "it may still come back")

        second.path.peer = contested
        second.viewer.check()
        rig.run(for: .milliseconds(20))
        addresses.note(contested, of: second.session, now: rig.now)
        #expect(addresses[contested] === second.session)
        #expect(addresses.claim(contested, for: first.session, now: rig.now) != .granted)
        // What has become another's isn't freed with the first.
        addresses.remove(first.session)
        #expect(addresses[contested] === second.session)
        addresses.remove(second.session)
        #expect(addresses[contested] == nil)
    }

    @Test("who has ended holds no address")
    func ended() throws {
        let rig = try Rig()
        let (first, second) = (try rig.join(), try rig.join())
        var addresses = SessionsByAddress()
        addresses.note(first.path.peer, of: first.session, now: rig.now)
        #expect(addresses.claim(first.path.peer, for: second.session, now: rig.now) != .granted)
        first.session.close(now: rig.now)
        #expect(addresses.claim(first.path.peer, for: second.session, now: rig.now) == .granted)
    }

    @Test("who moves to another port is there at once, and its old one is another's 15 s after the last check from it")
    func moved() throws {
        let rig = try Rig()
        let (first, second) = (try rig.join(), try rig.join())
        var addresses = SessionsByAddress()
        let old = first.path.peer
        let new = TransportAddress(ipv4: 198, 51, 100, 9, port: 4321)
        addresses.note(old, of: first.session, now: rig.now)
        #expect(addresses.claim(new, for: first.session, now: rig.now) == .granted)
        first.path.peer = new
        first.viewer.check()
        rig.run(for: .milliseconds(20))
        addresses.note(new, of: first.session, now: rig.now)
        #expect(addresses[new] === first.session)

        rig.run(for: SessionICE.addressReservation - .milliseconds(100))
        #expect(addresses.claim(old, for: second.session, now: rig.now) != .granted)
        rig.run(for: .milliseconds(100))
        #expect(addresses.claim(old, for: second.session, now: rig.now) == .granted)
        #expect(addresses.claim(new, for: second.session, now: rig.now) != .granted)
        #expect(first.session.end == nil)
    }

    @Test("what is heard at another address doesn't keep the one that media still goes to")
    func heardElsewhere() throws {
        let rig = try Rig()
        let (first, second) = (try rig.join(), try rig.join())
        var addresses = SessionsByAddress()
        let old = first.path.peer
        let new = TransportAddress(ipv4: 198, 51, 100, 9, port: 4322)
        addresses.note(old, of: first.session, now: rig.now)
        // A NAT has given it another port, and its checks there nominate nothing.
        first.path.peer = new
        first.viewer.check(nominates: false)
        rig.run(for: .milliseconds(20))
        addresses.note(new, of: first.session, now: rig.now)
        for _ in 0..<3 {
            rig.run(for: .seconds(5))
            first.viewer.check(nominates: false)
            first.viewer.report(now: rig.now)
        }
        rig.run(for: .milliseconds(100))
        addresses.note(new, of: first.session, now: rig.now)
        #expect(addresses.claim(old, for: second.session, now: rig.now) == .granted)
        #expect(addresses.claim(new, for: second.session, now: rig.now) != .granted)
        #expect(first.session.end == nil)
    }

    @Test("between threads as well, an address is kept while its session is heard there, and 14 s longer at least")
    func threads() throws {
        let rig = try Rig()
        let (first, second) = (try rig.join(), try rig.join())
        let table = LoopsByAddress()
        var one = SessionsByAddress(sharedIn: table, by: 0)
        var other = SessionsByAddress(sharedIn: table, by: 1)
        let contested = first.path.peer
        one.note(contested, of: first.session, now: rig.now)
        #expect(table[contested] == 0)
        first.checksOn = false
        for _ in 0..<5 {
            rig.run(for: .seconds(10))
            #expect(other.claim(contested, for: second.session, now: rig.now) == .refused)
            first.viewer.report(now: rig.now)
            rig.run(for: .milliseconds(100))
            one.heard(first.session, at: contested)
        }
        first.isSilent = true
        rig.run(for: SessionICE.addressReservation - .seconds(2))
        #expect(other.claim(contested, for: second.session, now: rig.now) == .refused)
        rig.run(for: .seconds(3))
        #expect(other.claim(contested, for: second.session, now: rig.now) == .granted)

        second.path.peer = contested
        second.viewer.check()
        rig.run(for: .milliseconds(20))
        other.note(contested, of: second.session, now: rig.now)
        #expect(table[contested] == 1 && other[contested] === second.session)
        #expect(one.claim(contested, for: first.session, now: rig.now) != .granted)
        one.note(contested, of: first.session, now: rig.now)
        #expect(table[contested] == 1)
        one.remove(first.session)
        #expect(table[contested] == 1)
        other.remove(second.session)
        #expect(table[contested] == nil)
    }

    @Test("what a check that isn't genuine comes from belongs to nobody afterwards, and keeps whom it belonged to")
    func expectation() throws {
        let rig = try Rig()
        let (first, second) = (try rig.join(), try rig.join())
        let table = LoopsByAddress()
        var one = SessionsByAddress(sharedIn: table, by: 0)
        let other = SessionsByAddress(sharedIn: table, by: 1)
        let new = TransportAddress(ipv4: 198, 51, 100, 9, port: 4321)
        other.expect(new, of: second.session)
        #expect(table[new] == 1)
        other.expectNoMore(new, of: second.session)
        #expect(table[new] == nil)
        one.note(first.path.peer, of: first.session, now: rig.now)
        other.expect(first.path.peer, of: second.session)
        other.expectNoMore(first.path.peer, of: second.session)
        #expect(table[first.path.peer] == 0)
    }

    @Test("an address in the middle of a handshake goes to the other thread's session that is proved there")
    func handshake() {
        let table = LoopsByAddress()
        let (one, other) = (MediaSessionID(rawValue: 3), MediaSessionID(rawValue: 4))
        let address = TransportAddress(ipv4: 198, 51, 100, 9, port: 4321)
        let start = now()
        let later = start + .seconds(15)
        #expect(table.assign(address, to: one, in: 0, AddressReservation(handshakingUntil: later), now: start))
        #expect(table.claim(address, in: 1, now: start) == .undecided && table.claim(address, in: 0, now: start) == nil)
        #expect(table.claim(address, in: 1, now: later) == .granted)
        #expect(table.assign(address, to: other, in: 1, AddressReservation(heardUntil: later), now: start))
        #expect(!table.assign(address, to: one, in: 0, AddressReservation(heardUntil: later), now: start))
        #expect(!table.extend(address, of: one, AddressReservation(heardUntil: later)) && table[address] == 1)
        #expect(table.extend(address, of: other, AddressReservation()))
        #expect(table.claim(address, in: 0, now: start) == .granted)
    }

    @Test("one peer that writes many senders into its checks holds few addresses")
    func limit() throws {
        let rig = try Rig()
        let peer = try rig.join()
        var addresses = SessionsByAddress()
        let all =
            [peer.path.peer] + (UInt16(1)...100).map { TransportAddress(ipv4: 198, 51, 100, 1, port: $0) }
        for address in all { addresses.note(address, of: peer.session, now: rig.now) }
        #expect(all.count { addresses[$0] != nil } == SessionICE.addressLimit)
    }

    @Test("over the server's socket a check of another session takes no address, and does when the first has ended")
    func server() throws {
        let server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        defer { server.stop() }
        let hub = TrackHub(origin: now())
        hub.connect(source: RecordingSource())
        let address = TransportAddress(ipv4: 127, 0, 0, 1, port: server.port)
        let first = try SocketViewer(of: server, watching: hub, at: address)
        try first.connect()
        let idr = Pictures.idr(20_000, captured: now())
        hub.publish(idr, epoch: 1, arrival: now())
        try eventually("the first picture") {
            first.pump()
            return first.shows(idr)
        }

        // As if it had written the first one's address into its datagram.
        let intruder = try SocketViewer(of: server, watching: hub, at: address)
        var foreign = intruder.viewer.checkRequest()
        foreign.transaction = 4711
        func isAnswered(_ request: CheckRequest) -> Bool {
            let number = withUnsafeBytes(of: request.transaction.bigEndian) { Array($0) }
            return first.viewer.replies.contains { Array($0.transactionID.bytes.suffix(8)) == number }
        }
        first.send(foreign.bytes)

        // What the first one asks for still comes: a picture whose beginning was lost.
        var lost = 0
        first.loses = { datagram in
            guard DatagramKind(of: datagram) == .rtp, lost == 0 else { return false }
            lost = 1
            return true
        }
        let repaired = Pictures.delta(8_000, seed: 1, captured: now())
        hub.publish(repaired, epoch: 1, arrival: now())
        try eventually("the picture whose beginning was lost") {
            first.pump()
            return first.shows(repaired)
        }
        #expect(lost == 1 && !isAnswered(foreign) && first.viewer.strangeDatagrams == 0)
        first.viewer.close()
        first.pump()
        try eventually("the first one's end") { first.end != nil }
        #expect(first.end == "the peer closed the connection")

        try eventually("an answer to the second one's check") {
            first.send(foreign.bytes)
            first.pump()
            return isAnswered(foreign)
        }
    }
}
