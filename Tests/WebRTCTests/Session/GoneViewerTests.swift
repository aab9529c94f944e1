import MediaSessions
import MediaTypes
import RTP
import STUN
import Testing

@testable import WebRTC

/// What a session does with the state of ``ViewerPresence``. The usual case, with pictures over UDP, is in
/// ``SessionLifeTests``.
@Suite("A viewer that is gone, or only seems to be")
struct GoneViewerTests {
    private func joinOverTCP(_ rig: Rig) throws -> RigPeer {
        let peer = try rig.addPeer()
        peer.path.peer = peer.path.peer.over(connection: 1)
        peer.viewer.check()
        rig.run(for: .milliseconds(200))
        try #require(peer.session.isConnected && peer.viewer.isConnected)
        return peer
    }

    /// Publishes small pictures, `interval` apart. Returns how many of them came within 50 ms, and all before them.
    private func showSmall(_ count: Int, every interval: Interval, on rig: Rig, to peer: RigPeer) -> Int {
        var inTime = 0
        for seed in 0..<UInt64(count) {
            rig.publish { Pictures.delta(60, seed: seed, captured: $0) }
            rig.run(for: .milliseconds(50))
            if peer.wholePictures.count == rig.published.count { inTime += 1 }
            rig.run(for: interval - .milliseconds(50))
        }
        return inTime
    }

    /// How many of three rates the session tells the encoders of the first track.
    private func toldRates(of peer: RigPeer, on rig: Rig) -> Int {
        let watched = peer.session.watched
        let rates = [
            watched?.targetBitRate(at: rig.feed), watched?.carriedBitRate(at: rig.feed),
            watched?.rateToReturn(to: rig.feed),
        ]
        return rates.compactMap { $0 }.count
    }

    private func onlyChecks(since count: Int, to peer: RigPeer) -> Bool {
        peer.link.sent.dropFirst(count).allSatisfy { $0.kind == .stun }
    }

    // MARK: TCP

    @Test("a silent viewer is gone over an open TCP connection, too: it gets only checks, and counts for no encoder")
    func silentConnection() throws {
        let rig = try Rig()
        let peer = try joinOverTCP(rig)
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.show(60)
        #expect(peer.wholePictures.count == 61 && peer.session.statistics.transport == .tcp)
        #expect(toldRates(of: peer, on: rig) == 3)
        peer.isSilent = true
        rig.show(90)
        let sent = peer.link.sent.count
        rig.show(200)
        #expect(peer.link.sent.count >= sent + 10 && onlyChecks(since: sent, to: peer))
        #expect(toldRates(of: peer, on: rig) == 0 && peer.session.end == nil)
        peer.isSilent = false
        rig.show(30)
        #expect(toldRates(of: peer, on: rig) == 3)
    }

    // The track's history keeps 512 frames.
    @Test(
        "the end of its TCP connection makes a viewer gone at once; over another one it begins with a key frame",
        arguments: [300, 600])
    func closedConnection(missed: Int) throws {
        let rig = try Rig()
        let peer = try joinOverTCP(rig)
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.show(60)
        #expect(peer.wholePictures.count == 61 && toldRates(of: peer, on: rig) == 3)
        peer.isSilent = true
        peer.session.connectionClosed(peer.path.peer, now: rig.now)
        #expect(toldRates(of: peer, on: rig) == 0)
        let sent = peer.link.sent.count
        rig.show(missed)
        #expect(peer.link.sent.count == sent && toldRates(of: peer, on: rig) == 0 && peer.session.end == nil)

        let requests = rig.source.keyFrameRequests
        peer.isSilent = false
        peer.path.peer = peer.path.peer.over(connection: 2)
        peer.viewer.check()
        rig.show(30)
        #expect(rig.source.keyFrameRequests > requests)
        #expect(peer.wholePictures.count == 61, "what it has missed would only be late")
        rig.publish { Pictures.idr(5_000, seed: 3, captured: $0) }
        rig.show(30)
        #expect(peer.wholePictures.count == 61 + 31 && rig.feed.low == nil)
        #expect(peer.link.media.last?.path == peer.path && toldRates(of: peer, on: rig) == 3)
        #expect(rig.feed.record.drops.slowPathFrames == 0, "its path wasn't too slow")
    }

    // MARK: Consent

    @Test("one whose consent has run out gets nothing and counts for no encoder, and goes on as soon as it answers")
    func withoutConsent() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        // As it sends nothing by itself, it is asked each second, so that its last answer is new.
        peer.checksOn = false
        #expect(showSmall(50, every: .milliseconds(60), on: rig, to: peer) == 50)
        peer.checksOn = true
        peer.viewer.answersRequests = false
        rig.run(for: .seconds(30))
        let sent = peer.link.sent.count
        #expect(showSmall(10, every: .milliseconds(60), on: rig, to: peer) == 0)
        #expect(onlyChecks(since: sent, to: peer) && toldRates(of: peer, on: rig) == 0)
        peer.viewer.answersRequests = true
        rig.run(for: .seconds(6))
        #expect(peer.wholePictures == rig.published.map(\.contents))
        #expect(showSmall(20, every: .milliseconds(60), on: rig, to: peer) == 20)
        #expect(toldRates(of: peer, on: rig) == 3)
    }

    // MARK: Sound

    @Test(
        "a viewer of only sound isn't gone because its answers take long; once it is, it gets none until it is back",
        arguments: [Rig.delay, .milliseconds(1_500)])
    func sound(answerTime: Interval) throws {
        let rig = try Rig(trackCount: 0, hasSound: true)
        let peer = try rig.join()
        // It sends only one report, which shows the round trip, and answers.
        peer.checksOn = false
        rig.play(10, on: 0)
        peer.delayToHost = answerTime
        peer.viewer.report(now: rig.now)
        rig.play(200, on: 0)
        let lacking = rig.published.count - peer.viewer.packets.count
        rig.play(1_000, on: 0)
        #expect(rig.published.count - peer.viewer.packets.count == lacking)

        peer.isSilent = true
        rig.play(700, on: 0)
        let (sent, heard) = (peer.link.sent.count, peer.viewer.packets.count)
        rig.play(300, on: 0)
        #expect(peer.link.sent.count > sent && onlyChecks(since: sent, to: peer))
        let missed = rig.published.count
        peer.isSilent = false
        rig.play(300, on: 0)
        let after = peer.viewer.packets.dropFirst(heard).map { Array($0.rtp.payload) }
        #expect((1...rig.published.count - missed).contains(after.count))
        #expect(after == rig.published.suffix(after.count).flatMap(\.contents))
        #expect(rig.feed.record.drops.lateSoundFrames == 0, "nothing that it has missed waits for it")
    }

    // MARK: Still screens

    @Test("one with little to report, because the screen is still, gets each picture at once, even if answers are lost")
    func stillScreen() throws {
        let rig = try Rig()
        let peer = try rig.join()
        // It sends only answers.
        peer.checksOn = false
        rig.publish { Pictures.idr(5_000, captured: $0) }
        #expect(showSmall(40, every: .milliseconds(500), on: rig, to: peer) == 40)
        peer.viewer.answersRequests = false
        #expect(showSmall(8, every: .milliseconds(2_500), on: rig, to: peer) == 8)
        peer.viewer.answersRequests = true
        rig.run(for: .seconds(20))
        #expect(showSmall(50, every: .milliseconds(60), on: rig, to: peer) == 50)
    }

    @Test("one that is gone costs some checks while the screen stands still, and after 30 s nothing is kept for it")
    func stillAndGone() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.show(90)
        peer.isSilent = true
        rig.show(100)
        let sent = peer.link.sent.count
        rig.run(for: .seconds(24))
        #expect((1...30).contains(peer.link.sent.count - sent) && onlyChecks(since: sent, to: peer))
        #expect(peer.session.end == nil)
        rig.run(for: .seconds(3))
        #expect(peer.session.end == .other("the peer has been silent for 30 s"))

        let last = peer.link.sent.count
        rig.show(30)
        #expect(peer.link.sent.count == last)
        // The media thread does this with each session that has ended.
        peer.session.watched?.leave()
        _ = rig.feed.update(now: rig.now)
        #expect(rig.feed.sessionCount == 0 && rig.feed.history.count == 0 && rig.feed.startFrame == nil)
    }
}
