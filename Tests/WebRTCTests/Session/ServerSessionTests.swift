import MediaSessions
import MediaTypes
import RTP
import STUN
import Testing

@testable import WebRTC

@Suite("Sessions with servers that pass on what they get")
struct ServerSessionTests {
    private func keyFrames(_ peer: RigPeer, since start: MonotonicTime = .zero) -> [MonotonicTime] {
        peer.viewer.pictures.filter { $0.unit.nalUnits.contains { $0.first == 0x65 } && $0.time >= start }.map(\.time)
    }

    /// As a capture codes a screen on which nothing changes: finer, or again.
    private func stillFrame(_ seed: Int, _ captured: MonotonicTime) -> CodedFrame {
        var frame = Pictures.delta(seed == 0 ? 20_000 : 12, seed: UInt64(seed), captured: captured)
        frame.isUnchanged = seed == 0
        return frame
    }

    @Test("two sender reports come within 300 ms, and the key frame that stands in the cache follows them")
    func bridge() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.joinServer()
        // Reports are due with the first packets, however long those have taken.
        rig.run(for: .milliseconds(700))
        let start = rig.now
        rig.publish { Pictures.idr(60_000, captured: $0) }
        rig.publish { stillFrame(1, $0) }
        let asked = rig.source.keyFrameRequests
        rig.play(60)
        let packets = peer.mediaPackets.map(\.rtp)
        let media = try #require(packets.max { $0.payload.count < $1.payload.count }?.header.ssrc)
        // Silence goes out, with reports, from the beginning.
        for (isSound, begin) in [(false, start), (true, MonotonicTime.zero)] {
            let reports = peer.viewer.reports.filter { ($0.report.ssrc != media) == isSound }
            try #require(isSound ? reports.count >= 2 : reports.count == 2)
            // Bridges round the spacing to milliseconds, and the clock's rate to ticks a millisecond.
            #expect((200...310).contains((reports[1].time - reports[0].time).milliseconds))
            #expect(reports[0].time >= begin && (isSound || (reports[1].time - start).milliseconds <= 300))
        }
        let known = try #require(peer.viewer.reports.filter { $0.report.ssrc == media }.last?.time)
        let frames = keyFrames(peer)
        try #require(frames.count == 2)
        #expect(frames[0] < known && frames[1] >= known && (frames[1] - start).milliseconds <= 300)
        #expect(rig.source.keyFrameRequests == asked)
        let contents = rig.published.map(\.contents)
        #expect(peer.wholePictures == contents + contents)
        // Then it is one a second, and no further key frame.
        rig.run(for: .seconds(3))
        let reports = peer.viewer.reports.filter { $0.report.ssrc == media }
        #expect(reports.count == 5 && reports[2].time - reports[1].time == .seconds(1))
        #expect(keyFrames(peer) == frames)
    }

    @Test("where the picture moves, the source is asked once for the key frame behind the second report")
    func movingBridge() throws {
        let rig = try Rig()
        let peer = try rig.joinServer()
        rig.publish { Pictures.idr(60_000, captured: $0) }
        let asked = rig.source.keyFrameRequests
        for index in 0..<60 {
            rig.publish { Pictures.delta(5_000, seed: UInt64(index), captured: $0) }
            rig.run(for: .milliseconds(33))
            if peer.viewer.reports.count < 2 { #expect(rig.source.keyFrameRequests == asked) }
        }
        #expect(rig.source.keyFrameRequests == asked + 1)
        #expect(keyFrames(peer).count == 1)
    }

    @Test("a viewer gets a report with the first packets, then one per second, and a key frame only once")
    func viewer() throws {
        let rig = try Rig()
        let peer = try rig.join()
        // The source takes a while to make its first picture.
        rig.run(for: .milliseconds(700))
        let start = rig.now
        rig.publish { Pictures.idr(60_000, captured: $0) }
        rig.run(for: .milliseconds(3400))
        let times = peer.viewer.reports.map(\.time)
        try #require(times.count == 4)
        #expect(times[0] - start <= .milliseconds(10) && times[1] - times[0] < .seconds(1))
        #expect(zip(times.dropFirst(), times.dropFirst(2)).allSatisfy { $1 - $0 == .seconds(1) })
        #expect(keyFrames(peer).count == 1)
    }

    @Test("requests for key frames of a still screen are served from the cache, at the time of the request")
    func stillScreen() throws {
        for orders in [false, true] {
            let rig = try Rig()
            let peer = try rig.joinServer()
            let other = try rig.join()
            rig.publish { Pictures.idr(60_000, captured: $0) }
            rig.run(for: .seconds(1))
            let asked = rig.source.keyFrameRequests
            let (start, count) = (rig.now, other.wholePictures.count)
            for index in 0..<10 {
                if orders { peer.viewer.orderKeyFrame(number: UInt8(index)) } else { peer.viewer.requestKeyFrame() }
                rig.run(for: .seconds(1))
                rig.publish { stillFrame(index, $0) }
                rig.run(for: .seconds(1))
            }
            #expect(keyFrames(peer, since: start).map { ($0 - start).milliseconds / 100 } == (0..<10).map { $0 * 20 })
            #expect(rig.source.keyFrameRequests == asked)
            #expect(other.wholePictures.count == count + 10, "others get nothing of that")
            // Each frame has its own time, which is when it was sent.
            let origin = try #require(peer.viewer.pictures.first)
            var last = -1
            for (unit, time) in peer.viewer.pictures {
                let ticks = Int(origin.unit.timestamp.distance(to: unit.timestamp))
                #expect(ticks > last && abs(ticks - Int((time - origin.time).milliseconds) * 90) < 90 * 60)
                last = ticks
            }
        }
    }

    @Test("once the screen has changed, the source is asked, so that no viewer sees old content again")
    func changedScreen() throws {
        let rig = try Rig()
        let peer = try rig.joinServer()
        rig.publish { Pictures.idr(60_000, captured: $0) }
        rig.run(for: .seconds(3))
        rig.publish { Pictures.delta(200, seed: 1, captured: $0) }
        rig.run(for: .milliseconds(100))
        let (asked, count) = (rig.source.keyFrameRequests, peer.wholePictures.count)
        peer.viewer.requestKeyFrame()
        rig.run(for: .seconds(1))
        #expect(rig.source.keyFrameRequests == asked + 1 && peer.wholePictures.count == count)
        // Its key frame answers the next request.
        rig.publish { Pictures.idr(60_000, seed: 9, captured: $0) }
        rig.run(for: .seconds(2))
        peer.viewer.requestKeyFrame()
        rig.run(for: .milliseconds(200))
        #expect(rig.source.keyFrameRequests == asked + 1)
        #expect(peer.wholePictures.suffix(2) == [rig.published[2].contents, rig.published[2].contents])
    }

    @Test("a server that never says what it receives gets all that the source sends", arguments: [true, false])
    func noFeedback(hasTransportNumbers: Bool) throws {
        let rig = try Rig()
        let peer = try rig.joinServer(hasTransportNumbers: hasTransportNumbers)
        rig.publish { Pictures.idr(60_000, captured: $0) }
        // 12 Mbit/s.
        for index in 0..<300 {
            rig.run(for: .milliseconds(33))
            rig.publish { Pictures.delta(50_000, seed: UInt64(index), captured: $0) }
            rig.feed.adaptRates(to: peer.session.watched.map { [$0] } ?? [], now: rig.now)
        }
        rig.run(for: .seconds(1))
        #expect(peer.wholePictures.last == rig.published.last?.contents)
        #expect(peer.session.statistics.getsLowLayer == false && rig.source.lowRate == nil)
        #expect(peer.session.targetBitRate == .highest)
        #expect(rig.source.rates.isEmpty && rig.source.carried.isEmpty)
        let late = peer.viewer.pictures.suffix(100).map { $0.time }
        #expect(zip(late, late.dropFirst()).allSatisfy { $1 - $0 < .milliseconds(60) })
    }
}
