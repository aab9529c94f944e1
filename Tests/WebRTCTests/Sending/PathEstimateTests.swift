import CongestionControl
import MediaSessions
import MediaTypes
import RTP
import TestSupport
import Testing
import TrackHub

@testable import WebRTC

/// The rig's viewers send reception reports and no transport-wide feedback, as aiortc and GStreamer do.
@Suite("What reception reports say about a viewer's path")
struct PathEstimateTests {
    /// A viewer that has begun with a key frame, behind a hop of that rate whose queue takes 300 ms.
    private func narrowRig(_ rate: BitRate) throws -> (Rig, RigPeer) {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        peer.link.narrow = (rate, .milliseconds(300))
        return (rig, peer)
    }

    /// Publishes a picture each 33 ms for some seconds, at the end of each of which the viewer reports what came.
    private func share(_ rig: Rig, to peer: RigPeer, seconds: Int, byteCount: Int, each second: () -> Void = {}) {
        for index in 0..<seconds {
            for picture in 0..<30 {
                let seed = UInt64(index * 30 + picture)
                rig.publish { Pictures.delta(byteCount, seed: seed, captured: $0) }
                rig.run(for: .milliseconds(33))
            }
            peer.viewer.reportReception(now: rig.now)
            rig.run(for: .milliseconds(10))
            second()
        }
    }

    @Test(
        "a narrow path is found, the source is told of it until its viewer has left, and the viewer changes the layer")
    func narrowPath() throws {
        let (rig, peer) = try narrowRig(BitRate(bitsPerSecond: 500_000))
        #expect(rig.source.rates.isEmpty)
        share(rig, to: peer, seconds: 10, byteCount: 5_000) {
            rig.feed.adaptRates(to: peer.session.watched.map { [$0] } ?? [], now: rig.now)
        }
        // Nothing is sent any more since the change of the layer, as nobody encodes the other one here.
        #expect((200_000...1_500_000).contains(peer.session.targetBitRate.bitsPerSecond))
        #expect(rig.source.rates.last?.bitsPerSecond == 1_000_000)
        #expect(rig.feed.low?.sessionCount == 1)

        rig.feed.sessionCount = 0
        _ = rig.feed.update(now: rig.now)
        #expect(rig.source.rates.last == .highest)
    }

    @Test("while all viewers get the low layer, the source is asked for what one of them could take again")
    func rateToReturn() throws {
        let (rig, peer) = try narrowRig(BitRate(bitsPerSecond: 2_500_000))
        share(rig, to: peer, seconds: 6, byteCount: 25_000)
        try #require(rig.feed.low?.sessionCount == 1)
        rig.feed.adaptRates(to: peer.session.watched.map { [$0] } ?? [], now: rig.now)
        let rate = peer.session.targetBitRate.bitsPerSecond
        #expect(rate > 1_400_000)
        #expect(rig.source.rates.last?.bitsPerSecond == rate * 3 / 4)
    }

    @Test("for a push, a player or a recording, the source keeps its rate while the only viewer's path is slow")
    func otherReaders() throws {
        let (rig, peer) = try narrowRig(BitRate(bitsPerSecond: 500_000))
        let push = rig.hub.subscribe {}
        func adapt() { rig.feed.adaptRates(to: peer.session.watched.map { [$0] } ?? [], now: rig.now) }
        share(rig, to: peer, seconds: 10, byteCount: 5_000, each: adapt)
        #expect(peer.session.targetBitRate.bitsPerSecond < 1_500_000)
        #expect(rig.feed.low?.sessionCount == 1)
        rig.hub.setRecorded(true, now: rig.now)
        withExtendedLifetime(push) {}
        adapt()
        #expect(rig.source.rates.isEmpty)
    }

    @Test("the source lowers its rate again for the only viewer when the push beside it has ended")
    func withoutOtherReaders() throws {
        let (rig, peer) = try narrowRig(BitRate(bitsPerSecond: 2_500_000))
        var push: TrackReader? = rig.hub.subscribe {}
        rig.hub.setRecorded(true, now: rig.now)
        func adapt() { rig.feed.adaptRates(to: peer.session.watched.map { [$0] } ?? [], now: rig.now) }
        share(rig, to: peer, seconds: 6, byteCount: 25_000, each: adapt)
        try #require(rig.feed.low?.sessionCount == 1)
        withExtendedLifetime(push) {}
        push = nil
        adapt()
        #expect(rig.source.rates.isEmpty)
        rig.hub.setRecorded(false, now: rig.now)
        adapt()
        #expect(rig.source.rates.count == 1)
    }

    @Test("what would arrive old on the low layer is left out, and the viewer goes on with a new key frame")
    func oldOnLowLayer() throws {
        let (rig, peer) = try narrowRig(BitRate(bitsPerSecond: 500_000))
        share(rig, to: peer, seconds: 4, byteCount: 5_000)
        try #require(rig.feed.low?.sessionCount == 1)
        func takeLow(_ frame: CodedFrame) {
            #expect(rig.hub.takeLow(frame, epoch: 1, number: 1, now: rig.now))
            rig.run(for: .milliseconds(20))
        }
        takeLow(Pictures.idr(3_000, captured: rig.now))
        rig.run(for: .seconds(1))
        let before = peer.session.statistics.framesSent
        // All of them take two seconds and a half at the pace of the estimate.
        for seed in 0..<20 as Range<UInt64> { takeLow(Pictures.delta(20_000, seed: seed, captured: rig.now)) }
        takeLow(Pictures.idr(4_000, captured: rig.now))
        rig.run(for: .seconds(2))
        // The new key frame, and at most what was on its way before.
        let after = peer.session.statistics.framesSent
        #expect((before + 1...before + 3).contains(after))
        rig.run(for: .seconds(5))
        #expect(peer.session.statistics.framesSent == after)
    }

    @Test(
        "one packet in ten lost by chance lowers nothing, though retransmissions are sent besides", arguments: [1, 2])
    func randomLoss(seed: UInt64) throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(50_000, captured: $0) }
        var random = SeededRandom(seed: seed)
        peer.link.loses = { _ in Int.random(in: 0..<10, using: &random) == 0 }
        share(rig, to: peer, seconds: 12, byteCount: 8_000)
        // 2 Mbit/s were sent.
        #expect(peer.session.targetBitRate.bitsPerSecond >= 2_000_000)
        #expect(rig.feed.low == nil)
        #expect(peer.session.statistics.retransmittedPackets > 100)
    }

    @Test("a viewer's own estimate (REMB) is not exceeded")
    func remoteEstimate() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(50_000, captured: $0) }
        share(rig, to: peer, seconds: 2, byteCount: 8_000)
        #expect(peer.session.targetBitRate == .highest)
        peer.viewer.send(
            .receiverReport(ReceiverReport(ssrc: SSRC(1), receptionReports: [])),
            .estimatedMaximumBitRate(
                ReceiverEstimatedMaximumBitRate(
                    sender: SSRC(1), bitRate: BitRate(bitsPerSecond: 700_000), sources: [peer.viewer.settings.media])))
        rig.run(for: .milliseconds(20))
        share(rig, to: peer, seconds: 1, byteCount: 1_000)
        #expect((600_000...700_000).contains(peer.session.targetBitRate.bitsPerSecond))
    }

    @Test("a packet lost from a still screen says nothing about what the path carries")
    func lossOfFewPackets() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(50_000, captured: $0) }
        rig.run(for: .milliseconds(300))
        peer.viewer.report(now: rig.now)
        for index in 0..<3 {
            rig.run(for: .milliseconds(2500))
            rig.publish { Pictures.delta(100, seed: UInt64(index), captured: $0) }
            rig.run(for: .milliseconds(300))
            peer.viewer.report(fractionLost: 255, now: rig.now)
        }
        rig.run(for: .milliseconds(20))
        #expect(peer.session.targetBitRate == .highest)
    }

    @Test("reports that wait while the host is late change neither the round trip nor the estimate")
    func unreadReports() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(50_000, captured: $0) }
        // 17 of the 20 Mbit/s that a path is thought to carry at first.
        share(rig, to: peer, seconds: 2, byteCount: 70_000)
        var unread: [[UInt8]] = []
        for index in 0..<150 {
            rig.publish { Pictures.delta(70_000, seed: UInt64(index), captured: $0) }
            rig.run(for: .milliseconds(33))
            if index % 30 == 20 {
                peer.viewer.reportReception(now: rig.now)
                unread = peer.viewer.takeOutgoing()
            }
            guard index % 30 == 26 else { continue }
            // 5 ms on the path, and the rest of six times 33 ms unread.
            for datagram in unread { peer.deliver(datagram, waited: .milliseconds(193), now: rig.now) }
            let roundTrip = try #require(peer.session.statistics.roundTripTime)
            #expect((9...11).contains(roundTrip.milliseconds))
            rig.run(for: .milliseconds(1))
            #expect(peer.session.statistics.queueDelay.map { $0 < .milliseconds(5) } == true)
        }
        #expect(peer.session.targetBitRate == .highest)
    }

    @Test("varying round trips don't limit the source on a path without a limit")
    func differentRoundTrips() {
        var path = PathControl(hasTransportFeedback: false, now: .zero)
        // A peer answers a moment later now and then, and much later if it is busy.
        let roundTrips = [Interval.milliseconds(40), .microseconds(40_016), .milliseconds(55), .milliseconds(700)]
        for (index, roundTrip) in roundTrips.enumerated() {
            let now = MonotonicTime.zero + .seconds(Int64(index) + 1)
            path.sent(byteCount: 100, isPaced: true, now: now)
            let report = ReceptionReport(
                ssrc: SSRC(1), highestSequenceNumber: UInt32(index), lastSenderReport: UInt32(index) + 1)
            path.take(report, lastSent: SequenceNumber(UInt16(index)), roundTripTime: roundTrip, arrival: now, now: now)
            path.makePlan(waiting: 0, now: now)
            #expect(path.plan.queueingDelay == roundTrip - roundTrips[0])
            #expect(path.targetBitRate == .highest)
        }
    }

    @Test("the handshake's round trip shows a queue that the first packets have filled", arguments: [true, false])
    func fullFromTheStart(isKnown: Bool) {
        var path = PathControl(
            hasTransportFeedback: false, roundTripTime: isKnown ? .milliseconds(30) : nil, now: .zero)
        var number: UInt16 = 0
        for second in Int64(0)..<4 {
            // 600 kbit/s, of which the path carries two thirds.
            for packet in Int64(0)..<75 {
                number += 1
                path.sent(byteCount: 956, isPaced: true, now: .zero + .milliseconds(second * 1000 + packet * 13))
            }
            let now = MonotonicTime.zero + .seconds(second + 1)
            let report = ReceptionReport(
                ssrc: SSRC(1), fractionLost: 85, highestSequenceNumber: UInt32(number),
                lastSenderReport: UInt32(second) + 1)
            path.take(
                report, lastSent: SequenceNumber(number), roundTripTime: .milliseconds(200), arrival: now, now: now)
            path.makePlan(waiting: 0, now: now)
        }
        #expect((path.targetBitRate < BitRate(bitsPerSecond: 450_000)) == isKnown)
    }

    @Test("reports that come with every request are taken together")
    func frequentReports() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(50_000, captured: $0) }
        for index in 0..<100 {
            if index % 5 == 0 { rig.publish { Pictures.delta(25_000, seed: UInt64(index), captured: $0) } }
            rig.run(for: .milliseconds(20))
            peer.viewer.report(fractionLost: 64, now: rig.now)
        }
        rig.run(for: .milliseconds(20))
        // 2 Mbit/s were sent; not one of the reports in between took "nothing was sent" for the path's limit.
        #expect((900_000...2_500_000).contains(peer.session.targetBitRate.bitsPerSecond))
    }

    @Test("what is sent again counts as sent, with a number of its own or without")
    func sentAgain() {
        for isNumbered in [true, false] {
            var path = PathControl(hasTransportFeedback: false, now: .zero)
            var now = MonotonicTime.zero
            // 19 Mbit/s, of the 20 that a path is thought to carry at first.
            for _ in 0..<2000 {
                now = now + .microseconds(500)
                if isNumbered {
                    path.sent(byteCount: 1150, isPaced: false, now: now)
                } else {
                    path.sentUnnumbered(byteCount: 1150, now: now)
                }
            }
            path.makePlan(waiting: 0, now: now)
            #expect(!path.plan.isApplicationLimited)
            #expect(path.nextSendTime(now: now) >= now)
        }
    }

    @Test("padding takes its part of what encoders may send")
    func padding() {
        var path = PathControl(hasTransportFeedback: true, now: .zero)
        path.take(
            TransportFeedback(
                sender: SSRC(1), media: SSRC(2), base: 0, referenceTime: 0, feedbackCount: 0, arrivals: []),
            arrival: .zero, now: .zero)
        path.makePlan(waiting: 0, now: .zero)
        let before = path.targetBitRate
        for _ in 0..<100 { path.sentPadding(byteCount: 81, now: .zero) }
        path.makePlan(waiting: 0, now: .zero)
        #expect(path.targetBitRate.bitsPerSecond == before.bitsPerSecond - 100_000)
        path.makePlan(waiting: 0, now: .zero + .seconds(2))
        #expect(path.targetBitRate == before)
    }
}
