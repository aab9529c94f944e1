import MediaSessions
import MediaTypes
import RTP
import TestSupport
import Testing
import TrackHub

@testable import WebRTC

/// A source has one track of pictures. Two of them show that a session sends whatever tracks its source has.
@Suite("A session with two tracks")
struct TwoTrackTests {
    /// The streams of the rig's two tracks.
    private let streams = [SSRC(0x1122_3344), SSRC(0x1122_3444)]

    /// What came in a stream, each packet once.
    private func packets(of stream: Int, at peer: RigPeer) -> [RTPPacket] {
        var seen: Set<UInt16> = []
        return peer.viewer.packets.map(\.rtp).filter {
            $0.header.ssrc == streams[stream] && seen.insert($0.header.sequenceNumber.rawValue).inserted
        }
    }

    private func frames(of stream: Int, at peer: RigPeer) -> [ReceivedFrame] {
        var reassembler = FrameReassembler(.h264)
        return packets(of: stream, at: peer).flatMap { reassembler.receive($0.header, payload: $0.payload) }
    }

    /// Publishes one picture after the other on both tracks, each in the same moment, beginning with an IDR.
    private func publish(_ count: Int, of byteCounts: [Int], on rig: Rig) {
        for seed in 0..<UInt64(count) {
            for (track, byteCount) in byteCounts.enumerated() {
                rig.publish(
                    { captured in
                        seed == 0
                            ? Pictures.idr(byteCount, seed: UInt64(track), captured: captured)
                            : Pictures.delta(byteCount, seed: seed * 2 + UInt64(track), captured: captured)
                    }, on: track)
            }
            rig.run(for: .milliseconds(100))
        }
    }

    /// Has the viewer report the loss in each stream, in 1/256.
    private func report(_ losses: [UInt8], from peer: RigPeer, on rig: Rig) {
        let reports = zip(streams.indices, losses).map { stream, loss in
            ReceptionReport(
                ssrc: streams[stream], fractionLost: loss, cumulativeLost: 0,
                highestSequenceNumber: UInt32(packets(of: stream, at: peer).last?.header.sequenceNumber.rawValue ?? 0),
                jitter: 0, lastSenderReport: 0, delaySinceLastSenderReport: 0)
        }
        peer.viewer.send(.receiverReport(ReceiverReport(ssrc: SSRC(1), receptionReports: reports)))
        rig.run(for: .milliseconds(20))
    }

    @Test("sends each in a stream of its own, with one name and one clock for both")
    func bothTracks() throws {
        let rig = try Rig(trackCount: 2)
        let peer = try rig.join()
        #expect(rig.tracks.map(\.feed.sessionCount) == [1, 1])
        publish(20, of: [20_000, 900], on: rig)
        rig.run(for: .seconds(2))
        for (index, track) in rig.tracks.enumerated() {
            let frames = frames(of: index, at: peer)
            #expect(frames.map(\.nalUnits) == track.published.map(\.contents))
            let mids = packets(of: index, at: peer).map { $0.extensionData(9).map { Array($0) } }
            #expect(Set(mids) == [Array("\(index)".utf8)])

            let reports = peer.viewer.reports.filter { $0.report.ssrc == streams[index] }
            #expect(reports.count >= 3)
            for (report, time) in reports {
                #expect(report.ntpTime == Rig.clock.time(at: time - Rig.delay))
                for (frame, published) in zip(frames, track.published) {
                    let capture = try #require(published.captureTime)
                    let byReport = Int64(report.rtpTimestamp.distance(to: frame.timestamp))
                    #expect(abs(byReport - ClockRate.video.ticks(in: capture - (time - Rig.delay))) <= 2)
                }
            }
        }
        #expect(Set(peer.viewer.canonicalNames) == ["name"])
        #expect(peer.session.statistics.framesSent == 40)
        #expect(peer.viewer.strangeDatagrams == 0)
        peer.session.watched?.leave()
        #expect(rig.tracks.map(\.feed.sessionCount) == [0, 0])
    }

    @Test("starts the one again that the viewer has lost, and hides the one that is held")
    func oneTrack() throws {
        let rig = try Rig(trackCount: 2)
        let peer = try rig.join()
        publish(4, of: [3_000, 3_000], on: rig)
        peer.viewer.send(.pictureLossIndication(PictureLossIndication(sender: SSRC(1), media: streams[1])))
        rig.run(for: .milliseconds(100))
        #expect(frames(of: 0, at: peer).count == 4)
        #expect(frames(of: 1, at: peer).count == 8)
        for isPaused in [true, false] { rig.tracks[1].hub.setPaused(isPaused) }
        let late = try rig.join()
        rig.run(for: .milliseconds(100))
        #expect(frames(of: 0, at: late).count == 4)
        #expect(frames(of: 1, at: late).isEmpty)
    }

    @Test("waits for room in the socket with both, and goes on with both")
    func stalled() throws {
        let rig = try Rig(trackCount: 2)
        let peer = try rig.join()
        peer.link.hasRoom = false
        publish(3, of: [9_000, 9_000], on: rig)
        #expect(peer.session.isStalled)
        peer.link.hasRoom = true
        peer.session.resume(now: rig.now)
        rig.run(for: .milliseconds(100))
        #expect(!peer.session.isStalled)
        for (index, track) in rig.tracks.enumerated() {
            #expect(frames(of: index, at: peer).map(\.nalUnits) == track.published.map(\.contents))
        }
    }

    @Test("estimates the path from what both send and lose")
    func pathEstimate() throws {
        let rig = try Rig(trackCount: 2)
        let peer = try rig.join()
        // Few packets are lost of all, although they are a quarter of the second track's.
        for _ in 0..<4 {
            publish(10, of: [10_000, 900], on: rig)
            report([0, 64], from: peer, on: rig)
        }
        #expect(peer.session.targetBitRate.bitsPerSecond == 100_000_000)
        // A quarter of 1.6 Mbit/s is lost: less is tried.
        for _ in 0..<2 {
            publish(10, of: [10_000, 10_000], on: rig)
            report([64, 64], from: peer, on: rig)
        }
        #expect((1_100_000...1_700_000).contains(peer.session.targetBitRate.bitsPerSecond))
    }
}
