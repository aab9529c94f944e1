import MediaTypes
import RTP
import Testing

@testable import WebRTC

struct KeyFrameRequestTests {
    /// A rig whose track is an IDR and five pictures after it.
    private func started() throws -> (rig: Rig, peer: RigPeer) {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(60_000, captured: $0) }
        for index in 0..<5 {
            rig.run(for: .milliseconds(33))
            rig.publish { Pictures.delta(3_000, seed: UInt64(index), captured: $0) }
        }
        rig.run(for: .milliseconds(500))
        return (rig, peer)
    }

    private func isIDR(_ nalUnits: [[UInt8]]) -> Bool { nalUnits.contains { $0.first == 0x65 } }

    /// When the session began anew at an IDR, counted from `start`, in whole 100 ms.
    private func replays(_ peer: RigPeer, since start: MonotonicTime) -> [Int64] {
        peer.viewer.pictures.filter { isIDR($0.unit.nalUnits) && $0.time > start }
            .map { ($0.time - start).milliseconds / 100 }
    }

    @Test("a picture loss indication is answered from the cache, on time stamps that never run back")
    func pictureLoss() throws {
        let (rig, peer) = try started()
        let asked = rig.source.keyFrameRequests
        #expect(peer.wholePictures.count == 6)
        peer.viewer.requestKeyFrame()
        rig.run(for: .milliseconds(200))
        rig.publish { Pictures.delta(800, seed: 50, captured: $0) }
        rig.run(for: .milliseconds(200))
        let contents = rig.published.map(\.contents)
        #expect(peer.wholePictures == contents.prefix(6) + contents)
        #expect(rig.source.keyFrameRequests == asked)

        let media = peer.mediaPackets.map(\.rtp.header)
        #expect(zip(media, media.dropFirst()).allSatisfy { $0.timestamp.distance(to: $1.timestamp) >= 0 })
        #expect(zip(media, media.dropFirst()).allSatisfy { $0.sequenceNumber.distance(to: $1.sequenceNumber) == 1 })
        let stamps = Set(peer.viewer.pictures.map(\.unit.timestamp))
        #expect(stamps.count == 13, "each picture, replayed ones too, has a time stamp of its own")
        // The live picture is back where it belongs: 90 ticks a millisecond after the first.
        let span = peer.viewer.pictures[0].unit.timestamp.distance(to: peer.viewer.pictures[12].unit.timestamp)
        #expect(abs(span - 90 * (5 * 33 + 500 + 200)) <= 2)
    }

    @Test("requests that keep coming are served at once, after 2 s, and then ever more rarely")
    func budget() throws {
        let (rig, peer) = try started()
        let start = rig.now
        for _ in 0..<200 {
            peer.viewer.requestKeyFrame()
            rig.run(for: .milliseconds(100))
        }
        #expect(replays(peer, since: start) == [0, 20, 60, 140])
        #expect(rig.source.keyFrameRequests <= 1)
        #expect(rig.feed.record.keyFrameRequests == 200)
    }

    @Test("a full intra request is served once, however often it is repeated")
    func fullIntraRequest() throws {
        let (rig, peer) = try started()
        let start = rig.now
        for _ in 0..<30 {
            peer.viewer.orderKeyFrame(number: 7)
            rig.run(for: .milliseconds(100))
        }
        #expect(replays(peer, since: start) == [0])
        peer.viewer.orderKeyFrame(number: 8)
        rig.run(for: .milliseconds(100))
        #expect(replays(peer, since: start) == [0, 30])
        #expect(rig.source.keyFrameRequests <= 1)
        #expect(rig.feed.record.keyFrameRequests == 31)
    }

    @Test("requests for another's stream are ignored")
    func foreignStream() throws {
        let (rig, peer) = try started()
        let start = rig.now
        peer.viewer.send(.pictureLossIndication(PictureLossIndication(sender: SSRC(1), media: SSRC(2))))
        peer.viewer.send(
            .fullIntraRequest(
                FullIntraRequest(sender: SSRC(1), entries: [.init(ssrc: SSRC(2), sequenceNumber: 1)])))
        peer.viewer.send(
            .genericNack(GenericNack(sender: SSRC(1), media: SSRC(2), sequenceNumbers: [SequenceNumber(1)])))
        let before = peer.link.media.count
        rig.run(for: .milliseconds(500))
        #expect(replays(peer, since: start).isEmpty)
        #expect(peer.link.media.count == before)
        #expect(rig.feed.record.keyFrameRequests == 0)
    }

    @Test("with nothing in the cache a request goes to the source, and the IDR answers it")
    func emptyCache() throws {
        let (rig, peer) = try started()
        for index in 0..<300 { rig.publish { Pictures.delta(100, seed: UInt64(index), captured: $0) } }
        rig.run(for: .seconds(1))
        let asked = rig.source.keyFrameRequests
        peer.viewer.requestKeyFrame()
        rig.run(for: .milliseconds(100))
        #expect(rig.source.keyFrameRequests == asked + 1)
        rig.publish { Pictures.idr(9_000, seed: 77, captured: $0) }
        rig.run(for: .seconds(1))
        #expect(rig.source.keyFrameRequests == asked + 1)
        #expect(peer.wholePictures.last == rig.published.last?.contents)
    }
}
