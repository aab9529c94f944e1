import MediaSessions
import MediaTypes
import RTP
import STUN
import TestSupport
import Testing
import TrackHub

@testable import WebRTC

/// A viewer that has begun with a key frame, and sends no checks, but feedback about arrivals whenever the test wants.
private final class ReportingViewer {
    let rig: Rig
    let peer: RigPeer
    private var arrivals: ArrivalFeedback

    init() throws {
        rig = try Rig()
        peer = try rig.join(hasTransportNumbers: true)
        peer.checksOn = false
        arrivals = ArrivalFeedback(of: peer.viewer, now: rig.now)
        // What the connection makes due is due at whole milliseconds. Frames and sender reports never fall on these.
        rig.run(for: .microseconds(600_500))
        rig.publish { Pictures.idr(20_000, captured: $0) }
    }

    /// The feedback about the packets that have arrived since the last feedback.
    func feedback() throws -> RTCPPacket { .transportFeedback(try #require(try arrivals.take())) }

    /// Sends feedback and nothing else; it has just arrived then.
    func report() throws {
        peer.viewer.send(try feedback())
        rig.run(for: Rig.delay)
    }

    /// The media packets that the session has sent at the present moment.
    var sentNow: [TestLink.Sent] { peer.link.media.filter { $0.time == rig.now } }

    /// Waits until the session's own deadline is far away, so that what it sends next is due to what arrives.
    func rest() throws {
        for _ in 0..<100 where peer.session.deadline - rig.now < .milliseconds(50) { rig.run(for: .milliseconds(10)) }
        try #require(peer.session.deadline - rig.now >= .milliseconds(50))
    }

    /// Publishes so many small frames, ten per second, and reports the arrival of each.
    func share(_ count: UInt64) throws {
        for seed in 0..<count {
            rig.publish { Pictures.delta(300, seed: seed, captured: $0) }
            rig.run(for: .milliseconds(45))
            try report()
            rig.run(for: .milliseconds(50))
        }
    }
}

@Suite("What feedback about arrivals, and nothing else, makes due")
struct FeedbackTurnTests {
    @Test("a picture that waits because no feedback has arrived continues with the feedback, not at its slow pace")
    func waitingPicture() throws {
        let viewer = try ReportingViewer()
        let (rig, peer) = (viewer.rig, viewer.peer)
        rig.run(for: .milliseconds(50))
        try viewer.report()
        // After half of it, so much is unreported that a packet is sent only about five times a second.
        rig.publish { Pictures.delta(600_000, seed: 1, captured: $0) }
        rig.run(for: .milliseconds(500))
        try viewer.rest()
        #expect(peer.wholePictures.count == 1)
        try viewer.report()
        #expect(!viewer.sentNow.isEmpty)
    }

    @Test("a packet that is requested beside feedback is sent again at once", arguments: [true, false])
    func request(isFirst: Bool) throws {
        let viewer = try ReportingViewer()
        let (rig, peer) = (viewer.rig, viewer.peer)
        peer.viewer.repairsLosses = false
        rig.run(for: .milliseconds(100))
        let media = peer.viewer.settings.media
        let retransmission = try #require(peer.viewer.settings.retransmission)
        let lost = try #require(peer.link.media.last).sequenceNumber &+ 3
        peer.link.loses = { $0.ssrc == media.rawValue && $0.sequenceNumber == lost }
        rig.publish { Pictures.delta(15_000, seed: 1, captured: $0) }
        try viewer.rest()
        #expect(peer.wholePictures.count == 1)
        let nack = RTCPPacket.genericNack(
            GenericNack(sender: SSRC(1), media: media, sequenceNumbers: [SequenceNumber(lost)]))
        let feedback = try viewer.feedback()
        if isFirst { peer.viewer.send(nack, feedback) } else { peer.viewer.send(feedback, nack) }
        rig.run(for: Rig.delay)
        #expect(viewer.sentNow.map(\.ssrc) == [retransmission.rawValue])
        rig.run(for: Rig.delay)
        #expect(peer.wholePictures == rig.published.map(\.contents))
    }

    @Test("the probe of a source that uses its rate begins with the feedback that allows it, not with the next frame")
    func probe() throws {
        let viewer = try ReportingViewer()
        let (rig, peer) = (viewer.rig, viewer.peer)
        // The path's first probe, which is sent with the first frames, ends here for lack of frames.
        rig.run(for: .milliseconds(200))
        for seed in UInt64(0)..<40 {
            rig.publish { Pictures.delta(20_000, seed: seed, captured: $0) }
            rig.run(for: .milliseconds(33))
        }
        rig.feed.adaptRates(to: peer.session.watched.map { [$0] } ?? [], now: rig.now)
        try #require(rig.feed.usesItsRate)
        // Without feedback, so many packets are not followed by a probe.
        try viewer.rest()
        #expect(peer.wholePictures.count == 41, "nothing waits")
        try viewer.report()
        #expect(!viewer.sentNow.isEmpty)
    }

    @Test("the peer is asked for its consent the moment that is due, while frames and feedback keep arriving")
    func consent() throws {
        let viewer = try ReportingViewer()
        let (start, due) = (viewer.rig.now, viewer.peer.session.ice.deadline)
        try viewer.share(70)
        let request = viewer.peer.link.sent.first {
            $0.time > start && (try? STUNMessage(parsing: $0.datagram))?.messageClass == .request
        }
        #expect(request?.time == due)
    }

    @Test("a session whose peer has fallen silent ends on time, while frames keep arriving")
    func silence() throws {
        let viewer = try ReportingViewer()
        let (rig, peer) = (viewer.rig, viewer.peer)
        try viewer.share(10)
        peer.isSilent = true
        let due = peer.session.ice.lastHeard + .seconds(30)
        // In the last second its consent has expired, so that no media is due.
        while rig.now < due {
            #expect(peer.session.end == nil)
            rig.publish { Pictures.delta(300, seed: 1, captured: $0) }
            rig.run(for: min(.milliseconds(100), due - rig.now))
        }
        #expect(peer.session.end == .other("the peer has been silent for 30 s"))
    }
}
