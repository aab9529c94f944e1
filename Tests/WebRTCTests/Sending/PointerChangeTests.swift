import MediaSessions
import MediaTypes
import RTP
import TestSupport
import Testing

@testable import WebRTC

/// Which of a session's pictures have the pointer, told by the session, and what its viewer sees of them.
@Suite("The pointer in a session's pictures")
struct PointerChangeTests {
    /// The changes that a session tells.
    private final class Told {
        var changes: [PointerChange] = []
    }

    private func publish(_ drawn: [Bool], on rig: Rig, firstSeed: UInt64, isIDRFirst: Bool = false) {
        for (index, isDrawn) in drawn.enumerated() {
            rig.publish { captured in
                let seed = firstSeed + UInt64(index)
                return isIDRFirst && index == 0
                    ? marked(isDrawn, Pictures.idr(20_000, seed: seed, captured: captured))
                    : marked(isDrawn, Pictures.delta(900, seed: seed, captured: captured))
            }
            rig.run(for: .milliseconds(33))
        }
    }

    private func marked(_ isDrawn: Bool, _ unit: CodedFrame) -> CodedFrame {
        var unit = unit
        if !isDrawn { unit.attachment = .pointerLeftOut }
        return unit
    }

    /// Whether the pointer is drawn in each picture that came, as a page knows it from what it was told.
    private func seen(by peer: RigPeer, told: Told) -> [Bool?] {
        peer.viewer.pictures.map { picture in
            let timestamp = picture.unit.timestamp.rawValue
            return told.changes.last { Int32(bitPattern: timestamp &- $0.timestamp) >= 0 }?.isDrawn
        }
    }

    /// Whether it really is, by the bytes.
    private func real(_ peer: RigPeer, _ rig: Rig) -> [Bool?] {
        peer.viewer.pictures.map { picture in
            rig.published.first { $0.contents == picture.unit.nalUnits }?.isPointerDrawn
        }
    }

    @Test("two viewers are each told their own time stamp of the first picture and of each change")
    func changes() throws {
        let rig = try Rig()
        let peers = [try rig.join(), try rig.join()]
        let told = peers.map { peer in
            let told = Told()
            peer.session.watched?.watchPointer { told.changes.append($0) }
            return told
        }
        publish([true, true, false, false, true], on: rig, firstSeed: 10, isIDRFirst: true)
        rig.run(for: .milliseconds(200))
        for (peer, told) in zip(peers, told) {
            #expect(told.changes.map(\.isDrawn) == [true, false, true])
            #expect(real(peer, rig) == [true, true, false, false, true])
            #expect(seen(by: peer, told: told) == real(peer, rig))
        }
        #expect(told[0].changes != told[1].changes)
    }

    @Test("who joins late is told of the changes in the pictures that it gets, and who asks late of the last one")
    func late() throws {
        let rig = try Rig()
        let first = try rig.join()
        publish([true, true, false], on: rig, firstSeed: 20, isIDRFirst: true)
        let second = try rig.addPeer()
        let told = Told()
        second.session.watched?.watchPointer { told.changes.append($0) }
        second.viewer.check()
        rig.run(for: .milliseconds(500))
        #expect(told.changes.map(\.isDrawn) == [true, false])
        #expect(seen(by: second, told: told) == [true, true, false])
        let late = Told()
        first.session.watched?.watchPointer { late.changes.append($0) }
        #expect(late.changes.map(\.isDrawn) == [false])
        #expect(late.changes.first?.timestamp == first.viewer.pictures.last?.unit.timestamp.rawValue)
    }

    @Test("a viewer who is given older pictures again after a loss is told of them under their new time stamps")
    func again() throws {
        let rig = try Rig()
        let peer = try rig.join()
        let told = Told()
        peer.session.watched?.watchPointer { told.changes.append($0) }
        publish([false, false, true, true], on: rig, firstSeed: 30, isIDRFirst: true)
        rig.run(for: .seconds(3))
        peer.viewer.requestKeyFrame()
        rig.run(for: .milliseconds(500))
        #expect(told.changes.map(\.isDrawn) == [false, true, false, true])
        #expect(real(peer, rig) == [false, false, true, true, false, false, true, true])
        #expect(seen(by: peer, told: told) == real(peer, rig))
    }

    @Test("a picture with which the pointer changes waits 50 ms for the word of it, but not where nobody is told")
    func lead() throws {
        let rig = try Rig()
        let peer = try rig.join()
        let other = try rig.join()
        var told: [MonotonicTime] = []
        peer.session.watched?.watchPointer { _ in told.append(rig.now) }
        publish([true, true, false], on: rig, firstSeed: 40, isIDRFirst: true)
        rig.run(for: .milliseconds(200))
        let arrivals = [peer, other].map { $0.viewer.pictures.map(\.time) }
        try #require(told.count == 2 && arrivals.allSatisfy { $0.count == 3 })
        // The first picture is not kept from who waits for one.
        #expect(arrivals[0][0] - told[0] < .milliseconds(10))
        #expect(arrivals[0][1] == arrivals[1][1])
        #expect(arrivals[0][2] - told[1] >= .milliseconds(50) + Rig.delay)
        #expect(arrivals[0][2] - told[1] < .milliseconds(60))
        #expect(arrivals[1][2] - told[1] < .milliseconds(10))
    }

    @Test("a picture with which the pointer changes waits even if the next one has come together with it")
    func together() throws {
        let rig = try Rig()
        let peer = try rig.join()
        var told: [MonotonicTime] = []
        peer.session.watched?.watchPointer { _ in told.append(rig.now) }
        publish([true, true], on: rig, firstSeed: 50, isIDRFirst: true)
        rig.publish({ marked(false, Pictures.delta(900, seed: 52, captured: $0)) }, age: .milliseconds(20))
        rig.publish { marked(false, Pictures.delta(900, seed: 53, captured: $0)) }
        rig.run(for: .milliseconds(200))
        let arrivals = peer.viewer.pictures.map(\.time)
        try #require(told.count == 2 && arrivals.count == 4)
        #expect(arrivals[2] - told[1] >= .milliseconds(50) + Rig.delay)
        #expect(arrivals[3] >= arrivals[2])
    }
}
