import MediaSessions
import MediaTypes
import RTP
import Testing

@testable import TrackHub
@testable import WebRTC

struct JoiningTests {
    /// The most packets that the pacer lets go at once.
    private let burst = 48

    @Test("who joins late gets the pictures since the last IDR, in numbers of their own, and the source is not asked")
    func lateJoin() throws {
        let rig = try Rig()
        let first = try rig.join()
        let askedByFirst = rig.source.keyFrameRequests
        for index in 0..<3 {
            rig.publish { Pictures.delta(500, seed: UInt64(index), captured: $0) }
            rig.publish { Pictures.idr(150_000, seed: UInt64(100 + index), captured: $0) }
            rig.run(for: .milliseconds(100))
        }
        for index in 0..<20 {
            rig.publish { Pictures.delta(9_000, seed: UInt64(200 + index), captured: $0) }
            rig.run(for: .milliseconds(33))
        }
        let sentToFirst = first.link.media.count
        let second = try rig.join()
        rig.run(for: .milliseconds(400))
        #expect(second.wholePictures == rig.published.suffix(21).map(\.contents))
        #expect(rig.source.keyFrameRequests == askedByFirst)
        // Nothing but the two probes for the last picture went to the other viewer.
        #expect(first.link.media.count - sentToFirst <= 2)

        let numbers = second.mediaPackets.map(\.rtp.header.sequenceNumber)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0.distance(to: $1) == 1 })
        expectPaced(second)
        rig.publish { Pictures.delta(700, seed: 999, captured: $0) }
        rig.run(for: .milliseconds(50))
        #expect(first.wholePictures.last == rig.published.last?.contents)
        #expect(second.wholePictures.last == rig.published.last?.contents)
    }

    @Test("what the hub has let go of nobody begins with, though others watch and have seen it")
    func forgotten() throws {
        let rig = try Rig()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        let first = try rig.join()
        rig.publish { Pictures.delta(500, seed: 1, captured: $0) }
        rig.run(for: .milliseconds(100))
        #expect(first.wholePictures.count == 2)
        for isPaused in [true, false] { rig.hub.setPaused(isPaused) }
        let second = try rig.join()
        rig.run(for: .seconds(2))
        #expect(second.link.media.isEmpty)
        rig.publish { Pictures.idr(3_000, seed: 7, captured: $0) }
        rig.run(for: .milliseconds(100))
        #expect(second.wholePictures == [rig.published.last?.contents])
        #expect(first.wholePictures.last == rig.published.last?.contents)
    }

    @Test(
        "who ends its handshake just after a pause begins with nothing from before, nor does a slow one go on with it")
    func pauseMeanwhile() throws {
        let rig = try Rig()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        let slow = try rig.join()
        rig.run(for: .milliseconds(100))
        slow.link.hasRoom = false
        rig.publish { Pictures.delta(30_000, seed: 1, captured: $0) }
        rig.run(for: .milliseconds(20))
        let sent = slow.link.media.count
        // What a session asks of its feed before the media thread has looked at the track again.
        for isPaused in [true, false] { rig.hub.setPaused(isPaused) }
        let newcomer = try rig.addPeer()
        newcomer.viewer.check()
        slow.link.hasRoom = true
        slow.session.resume(now: rig.now)
        #expect(slow.link.media.count == sent, "the rest of the picture stays where it is")
        for _ in 0..<100 where !newcomer.session.isConnected {
            rig.run(for: .milliseconds(5), updatesFeed: false)
        }
        rig.run(for: .milliseconds(50), updatesFeed: false)
        #expect(newcomer.session.isConnected)
        #expect(newcomer.link.media.isEmpty)
        // A packet of a picture from before isn't sent again either.
        let lost = SequenceNumber(slow.link.media[0].sequenceNumber)
        slow.viewer.send(
            .genericNack(GenericNack(sender: SSRC(1), media: slow.viewer.settings.media, sequenceNumbers: [lost])))
        rig.run(for: .milliseconds(50))
        #expect(slow.link.media.allSatisfy { $0.ssrc == slow.viewer.settings.media.rawValue })
        rig.publish { Pictures.idr(3_000, seed: 7, captured: $0) }
        rig.run(for: .milliseconds(100))
        #expect(newcomer.wholePictures == [rig.published.last?.contents])
        #expect(slow.wholePictures.last == rig.published.last?.contents)
        #expect(rig.feed.record.drops.slowPathFrames == 0, "hidden frames aren't dropped")
    }

    @Test("a viewer of a still screen gets one more picture, once, for a player that takes its track up late")
    func oneMorePicture() throws {
        let rig = try Rig()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .seconds(1))
        let peer = try rig.join()
        rig.run(for: .seconds(3))
        #expect(peer.wholePictures.count == 1)
        #expect(rig.source.pictureRequests == 1)
        #expect(rig.source.keyFrameRequests == 0)
    }

    @Test("an IDR that is on its way to the sessions is not asked for again")
    func onItsWay() {
        let hub = TrackHub(origin: .zero)
        let source = RecordingSource()
        hub.connect(source: source)
        let feed = TrackFeed(hub: hub) {}
        feed.sessionCount = 1
        let start = MonotonicTime.zero + .seconds(1)
        _ = feed.update(now: start)
        feed.requestKeyFrame(now: start)
        #expect(source.keyFrameRequests == 1)
        hub.publish(Pictures.idr(5_000, captured: start), epoch: 1, arrival: start)
        // A session connects before the media thread has taken the picture.
        feed.requestKeyFrame(now: start + .milliseconds(20))
        hub.passOnKeptRequest(now: start + .seconds(3))
        #expect(source.keyFrameRequests == 1)
        #expect(feed.update(now: start + .milliseconds(21)))
        #expect(feed.startFrame != nil)
    }

    @Test("a viewer of a screen in motion needs no further picture")
    func noFurtherPicture() throws {
        let rig = try Rig()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        _ = try rig.join()
        for index in 0..<30 {
            rig.publish { Pictures.delta(500, seed: UInt64(index), captured: $0) }
            rig.run(for: .milliseconds(33))
        }
        #expect(rig.source.pictureRequests == 0)
    }

    /// Never more than the burst at once, nor more than the burst and the steady rate in any time.
    private func expectPaced(_ peer: RigPeer) {
        let packets = peer.link.media
        // The bytes that have been taken out of the bucket, and are not yet in it again.
        var taken = 0.0
        var last = packets.first?.time ?? .zero
        for packet in packets {
            taken = max(0, taken - (packet.time - last).seconds * 1.1 * 30_000_000 / 8)
            taken += Double(packet.datagram.count)
            last = packet.time
            #expect(taken <= 1.1 * Double(burst * 1200))
        }
    }

    @Test("a picture of common size goes out at once")
    func commonSize() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .seconds(1))
        let before = peer.link.media.count
        rig.publish { Pictures.delta(40_000, seed: 1, captured: $0) }
        #expect(peer.link.media.count - before >= 35)
        rig.run(for: Rig.delay)
        #expect(peer.wholePictures == rig.published.map(\.contents))
    }

    @Test("past the cache's limit the source is asked, once in 500 ms for all, and the sessions begin at the IDR")
    func pastTheLimit() throws {
        let rig = try Rig()
        let first = try rig.join()
        rig.publish { Pictures.idr(3_000, captured: $0) }
        for index in 0..<301 {
            rig.publish { Pictures.delta(100, seed: UInt64(index), captured: $0) }
            rig.run(for: .milliseconds(5))
        }
        rig.run(for: .seconds(1))
        #expect(first.wholePictures.count == 302)
        let asked = rig.source.keyFrameRequests
        let second = try rig.join()
        let third = try rig.join()
        let start = rig.now
        rig.run(for: .seconds(2))
        let requests = rig.source.keyFrameRequests - asked
        #expect((4...5).contains(requests), "asked \(requests) times in \((rig.now - start).milliseconds) ms")
        rig.publish { Pictures.delta(100, seed: 1000, captured: $0) }
        #expect(second.link.media.isEmpty)
        rig.publish { Pictures.idr(30_000, seed: 5, captured: $0) }
        rig.run(for: .seconds(2))
        #expect(rig.source.keyFrameRequests - asked == requests)
        #expect(first.wholePictures == rig.published.map(\.contents))
        #expect(second.wholePictures == rig.published.suffix(1).map(\.contents))
        #expect(third.wholePictures == rig.published.suffix(1).map(\.contents))
    }

    @Test("a viewer so slow that the history has passed comes back at the last IDR")
    func slowViewer() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        // Not so long that the host would ask whether the viewer is still there.
        rig.run(for: .milliseconds(600))
        let asked = rig.source.keyFrameRequests
        // 600 pictures in no time: the pacer can't follow.
        for index in 0..<600 {
            rig.publish { captured in
                index % 200 == 150
                    ? Pictures.idr(30_000, seed: UInt64(index), captured: captured)
                    : Pictures.delta(8_000, seed: UInt64(index), captured: captured)
            }
        }
        rig.run(for: .seconds(3))
        #expect(rig.source.keyFrameRequests == asked)
        #expect(peer.wholePictures.last == rig.published.last?.contents)
        let times = peer.mediaPackets.map(\.rtp.header.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0.distance(to: $1) >= 0 })
        // What came is the beginning, perhaps, and then everything from the last IDR on: units 550 to 599.
        let tail = peer.wholePictures.suffix(50)
        #expect(Array(tail) == rig.published.suffix(50).map(\.contents))
        #expect(peer.wholePictures.count < 300)
        #expect((1...rig.published.count).contains(rig.feed.record.drops.slowPathFrames))
    }

    @Test("the frames that a slow viewer skips all count, those that come while it waits for a key frame included")
    func skippedFrames() throws {
        let rig = try Rig()
        let peer = try rig.join()
        // Before a viewer has one whole picture, it isn't offered the low layer, whose frames are others.
        rig.publish { Pictures.idr(2_000_000, captured: $0) }
        rig.run(for: .milliseconds(10))
        for index in UInt64(0)..<600 {
            rig.publish { Pictures.delta(8_000, seed: index, captured: $0) }
            // The hub keeps fewer frames than these until the feed takes them.
            if index % 100 == 99 { rig.run(for: .milliseconds(1)) }
        }
        for index in UInt64(600)..<620 {
            rig.run(for: .milliseconds(10))
            rig.publish { Pictures.delta(500, seed: index, captured: $0) }
        }
        rig.publish { Pictures.idr(20_000, seed: 1, captured: $0) }
        rig.run(for: .seconds(2))
        #expect(peer.wholePictures.last == rig.published.last?.contents)
        #expect(peer.wholePictures.count + rig.feed.record.drops.slowPathFrames == rig.published.count)
    }

    @Test("what has passed is shown a millisecond apart to who joins late, and what follows at its own times")
    func backlog() throws {
        let rig = try Rig()
        let first = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        for index in 0..<100 {
            rig.run(for: .milliseconds(33))
            rig.publish { Pictures.delta(500, seed: UInt64(index), captured: $0) }
        }
        let late = try rig.join()
        rig.run(for: .seconds(1))
        for index in 0..<3 {
            rig.publish { Pictures.delta(500, seed: 200 + UInt64(index), captured: $0) }
            rig.run(for: .milliseconds(33))
        }
        rig.run(for: .milliseconds(200))
        let times = late.viewer.pictures.map(\.unit.timestamp)
        #expect(times.count == 104)
        let steps = zip(times, times.dropFirst()).map { $0.distance(to: $1) }
        #expect(steps.prefix(100).allSatisfy { $0 == 90 })
        // The others have the same times as those of a viewer who has seen all.
        let seen = first.viewer.pictures.map(\.unit.timestamp)
        #expect(zip(seen, seen.dropFirst()).map { $0.distance(to: $1) }.suffix(3) == steps.suffix(3))
    }

    @Test("a reader that lost pictures with nothing to begin with asks for an IDR by itself")
    func lostReader() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(3_000, captured: $0) }
        rig.run(for: .seconds(1))
        let asked = rig.source.keyFrameRequests
        // More than the feed's queue in the hub takes, while the media thread is elsewhere.
        for index in 0..<700 {
            rig.hub.publish(Pictures.delta(200, seed: UInt64(index)), epoch: 1, arrival: rig.now)
        }
        peer.viewer.report(now: rig.now)
        rig.run(for: .milliseconds(50))
        #expect(rig.source.keyFrameRequests == asked + 1)
        #expect(rig.feed.record.drops.overloadFrames == 700)
        rig.publish { Pictures.idr(3_000, seed: 3, captured: $0) }
        rig.run(for: .milliseconds(100))
        #expect(peer.wholePictures.last == rig.published.last?.contents)
    }
}
