import MediaSessions
import MediaTypes
import RTP
import Testing
import TrackHub

@testable import WebRTC

@Suite("The path to a server, which passes on what it gets")
struct ServerPathTests {
    /// A server that sends transport-wide feedback, and a source that sends it 4.8 Mbit/s: as much as it may while the
    /// path isn't known to carry more.
    private final class Motion {
        let rig: Rig
        let peer: RigPeer
        private var feedback: ArrivalFeedback
        private var lowSeed: UInt64?
        private var answered = 0

        /// Whether the source is asked for a key frame that it hasn't made.
        private var wantsKeyFrame: Bool {
            defer { answered = rig.source.keyFrameRequests }
            return rig.source.keyFrameRequests > answered
        }

        init() throws {
            rig = try Rig()
            peer = try rig.joinServer(hasTransportNumbers: true)
            feedback = ArrivalFeedback(of: peer.viewer, now: rig.now)
            rig.publish { Pictures.idr(20_000, captured: $0) }
        }

        func run(pictures: Int) throws {
            for _ in 0..<pictures {
                let seed = UInt64(rig.published.count)
                if rig.source.lowRate != nil {
                    let isFirst = lowSeed == nil
                    lowSeed = seed
                    let picture =
                        isFirst
                        ? Pictures.idr(5_000, seed: seed, captured: rig.now)
                        : Pictures.delta(1_000, seed: seed, captured: rig.now)
                    _ = rig.hub.takeLow(picture, epoch: 1, number: seed, now: rig.now)
                }
                rig.publish {
                    wantsKeyFrame
                        ? Pictures.idr(20_000, seed: seed, captured: $0)
                        : Pictures.delta(20_000, seed: seed, captured: $0)
                }
                rig.run(for: .milliseconds(33))
                if let arrivals = try feedback.take() { peer.viewer.send(.transportFeedback(arrivals)) }
                rig.feed.adaptRates(to: peer.session.watched.map { [$0] } ?? [], now: rig.now)
            }
        }
    }

    /// The packets of the pictures' stream without any of a picture, which a server passes on.
    private func padding(at peer: RigPeer) -> Int { peer.mediaPackets.count { $0.rtp.payload.isEmpty } }

    @Test("a picture that has lost all packets but its first is repaired, without padding", arguments: [2, 20])
    func lostEnd(kilobytes: Int) throws {
        let rig = try Rig()
        let peer = try rig.joinServer()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .seconds(3))
        var seen: Set<UInt16> = []
        peer.link.loses = { packet in
            packet.ssrc == peer.viewer.settings.media.rawValue && seen.insert(packet.sequenceNumber).inserted
                && seen.count > 1
        }
        rig.publish { Pictures.delta(kilobytes * 1000, seed: 7, captured: $0) }
        rig.run(for: .seconds(1))
        #expect(peer.link.media.count { $0.isLost } >= kilobytes / 2)
        #expect(peer.wholePictures.last == rig.published.last?.contents)
        #expect(padding(at: peer) == 0)
    }

    @Test("a server that got the low layer gets the source again, and what probes its path is no padding")
    func growth() throws {
        let motion = try Motion()
        let peer = motion.peer
        peer.link.narrow = (BitRate(bitsPerSecond: 1_000_000), .milliseconds(200))
        try motion.run(pictures: 150)
        #expect(peer.session.statistics.getsLowLayer == true)
        peer.link.narrow = nil
        try motion.run(pictures: 30)
        let before = peer.viewer.packets.count
        try motion.run(pictures: 300)
        #expect(peer.session.statistics.getsLowLayer == false)
        #expect(peer.viewer.packets.dropFirst(before).contains { $0.isRetransmission })
        #expect(padding(at: peer) == 0)
    }

    @Test("a server gets a key frame more evenly than a viewer, but not much later", arguments: [true, false])
    func pace(isOfServer: Bool) {
        var path = PathControl(
            hasTransportFeedback: true, isOfServer: isOfServer, roundTripTime: .milliseconds(1), now: .zero)
        func milliseconds(for byteCount: Int, from start: Int64) -> Int64 {
            var (waiting, time) = (byteCount, start)
            while waiting > 0 {
                let now = MonotonicTime.zero + .milliseconds(time)
                path.makePlan(waiting: waiting, now: now)
                while waiting > 0, path.tryConsume(byteCount: 1200, now: now) {
                    path.sent(byteCount: 1156, isPaced: true, now: now)
                    waiting -= 1200
                }
                time += 1
            }
            return time - start
        }
        // The first one is a probe.
        _ = milliseconds(for: 400_000, from: 0)
        #expect((isOfServer ? 30...50 : 8...20).contains(milliseconds(for: 150_000, from: 1000)))
        #expect((isOfServer ? 50...90 : 20...60).contains(milliseconds(for: 400_000, from: 2000)))
    }

    @Test("the source is asked for no more than the server asks for (REMB), though its path carries more")
    func askedRate() throws {
        let motion = try Motion()
        try motion.run(pictures: 60)
        let carried = motion.peer.session.targetBitRate
        #expect(carried.bitsPerSecond > 3_000_000)
        func ask(for rate: Int) throws -> Int? {
            motion.peer.viewer.send(
                .estimatedMaximumBitRate(
                    ReceiverEstimatedMaximumBitRate(
                        sender: SSRC(1), bitRate: BitRate(bitsPerSecond: rate),
                        sources: [motion.peer.viewer.settings.media])))
            try motion.run(pictures: 30)
            return motion.rig.source.rates.last?.bitsPerSecond
        }
        #expect(try ask(for: 2_000_000) == 2_000_000)
        // The path is what it was, and so is what the server may get otherwise.
        #expect(motion.peer.session.targetBitRate >= carried)
        // It asks for nothing more.
        #expect(try ask(for: 0) ?? 0 > 3_000_000)
    }
}
