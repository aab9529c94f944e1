import MediaSessions
import MediaTypes
import RTP
import STUN
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

/// A track and one viewer of its whole pictures, under a clock that only the test moves.
private final class FrameRig {
    private final class Received: Sendable {
        let pictures = Mutex<[WholePicture]>([])
    }

    private(set) var now = MonotonicTime(nanoseconds: 5_000_000_000_000)
    let track: RigTrack
    var viewer: FrameViewer
    var path: ConfirmingPath
    private let received = Received()
    private var onPath = 0

    init(_ bitsPerSecond: Int = 20_000_000) {
        let track = RigTrack(origin: now - .seconds(60))
        self.track = track
        track.hub.viewerCame(decoding: .yuv420, now: now)
        path = ConfirmingPath(bitsPerSecond)
        let received = self.received
        let request = FrameRequest(
            id: MediaSessionID(rawValue: 1), hub: track.hub, client: "192.0.2.1", clock: Rig.clock, openedAt: now,
            sink: { picture in received.pictures.withLock { $0.append(picture) } }, soundSink: { _ in },
            onEnd: { _ in })
        viewer = FrameViewer(request, feed: track.feed)
        path.send(0, byteCount: 0, now: now)
        step()
    }

    /// What the viewer was sent.
    var pictures: [WholePicture] { received.pictures.withLock { $0 } }
    var hub: TrackHub { track.hub }
    var feed: TrackFeed { track.feed }

    @discardableResult
    func publish(_ make: (_ captured: MonotonicTime) -> CodedFrame) -> CodedFrame {
        let frame = make(now - .milliseconds(4))
        hub.publish(frame, epoch: 1, arrival: now)
        step()
        return frame
    }

    func takeLow(_ frame: CodedFrame) {
        #expect(hub.takeLow(frame, epoch: 1, number: 1, now: now))
        step()
    }

    /// Lets time pass, as the media thread would.
    func run(for interval: Interval) {
        let end = now + interval
        while now < end {
            now = now + .milliseconds(1)
            while let next = path.next(by: now) { viewer.confirm(through: next.number, arrival: now, now: now) }
            if viewer.deadline <= now { viewer.advance(now: now) }
            sendNew()
        }
    }

    /// Publishes a picture every 33 ms for so many seconds.
    func share(seconds: Int, byteCount: Int) {
        for picture in 0..<seconds * 30 {
            publish { Pictures.delta(byteCount, seed: UInt64(picture), captured: $0) }
            run(for: .milliseconds(33))
            if picture % 6 == 0 { feed.adaptRates(to: [viewer], now: now) }
        }
    }

    private func step() {
        if feed.update(now: now) { viewer.advance(now: now) }
        sendNew()
    }

    private func sendNew() {
        for picture in pictures[onPath...] { path.send(picture.number, byteCount: picture.bytes.count, now: now) }
        onPath = pictures.count
    }
}

@Suite("A viewer of whole pictures")
struct FrameViewerTests {
    @Test("it gets the access units themselves from the last key frame on, with numbers, times and the pointer's flag")
    func pictures() {
        let rig = FrameRig()
        rig.viewer.advance(now: rig.now)
        #expect(rig.track.source.keyFrameRequests == 1, "there is nothing to begin with")
        var published = [rig.publish { Pictures.idr(20_000, captured: $0) }]
        let captured = rig.now - .milliseconds(4)
        for seed in 1...5 as ClosedRange<UInt64> {
            published.append(
                rig.publish { captured in
                    var frame = Pictures.delta(3_000, seed: seed, captured: captured)
                    if seed == 2 { frame.attachment = .pointerLeftOut }
                    return frame
                })
            rig.run(for: .milliseconds(100))
        }
        #expect(rig.pictures.map(\.bytes) == published.map(\.bytes))
        #expect(rig.pictures.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(rig.pictures.map(\.isKeyPicture) == [true, false, false, false, false, false])
        #expect(rig.pictures.map(\.isPointerDrawn) == [true, true, false, true, true, true])
        #expect(rig.pictures[0].captureTime == (captured + Rig.clock.unixOffset).nanoseconds / 1000)
        #expect(rig.viewer.rate.unconfirmedBytes == 0)
        #expect(rig.viewer.statistics.transport == .webSocket && rig.viewer.statistics.framesSent == 6)
        #expect(rig.viewer.statistics.sentOctets == UInt64(published.map(\.bytes.count).reduce(0, +)))
    }

    @Test("while it confirms nothing, little is sent, nobody else notices, and then it goes on with the newest")
    func stall() throws {
        let rig = FrameRig()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.share(seconds: 3, byteCount: 8_000)
        let (before, requests) = (rig.pictures.count, rig.track.source.keyFrameRequests)
        rig.path.silentUntil = rig.now + .seconds(5)
        rig.share(seconds: 4, byteCount: 8_000)
        #expect(rig.pictures.count - before < 12)
        #expect(rig.feed.low == nil, "no second encoder for a viewer that is away")
        #expect(rig.viewer.targetBitRate(at: rig.feed) == nil)
        #expect(rig.track.source.rates.isEmpty && rig.track.source.keyFrameRequests == requests)

        rig.share(seconds: 2, byteCount: 8_000)
        #expect(rig.viewer.end == nil)
        #expect(rig.feed.low?.sessionCount == 1, "what waited was old")
        let newest = Pictures.idr(9_000, seed: 77, captured: rig.now)
        rig.takeLow(newest)
        #expect(rig.pictures.last?.bytes == newest.bytes)
        #expect(rig.viewer.statistics.getsLowLayer)
        // The path carries what the source sends, so it returns at the next key frame.
        rig.share(seconds: 3, byteCount: 8_000)
        #expect(rig.track.source.keyFrameRequests > requests)
        let back = rig.publish { Pictures.idr(20_000, seed: 78, captured: $0) }
        rig.share(seconds: 1, byteCount: 8_000)
        #expect(rig.pictures.contains { $0.bytes == back.bytes })
        #expect(!rig.viewer.statistics.getsLowLayer && rig.feed.low?.sessionCount == 0)
    }

    @Test("after 10 s of silence it is gone, but a still screen asks for no confirmation")
    func timeout() {
        let rig = FrameRig()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .seconds(60))
        #expect(rig.viewer.end == nil && rig.pictures.count == 1)
        rig.path.silentUntil = .distantFuture
        rig.publish { Pictures.delta(1_000, seed: 1, captured: $0) }
        rig.run(for: .milliseconds(9_900))
        #expect(rig.viewer.end == nil)
        rig.run(for: .milliseconds(1_200))
        #expect(rig.viewer.end == "the viewer has confirmed no picture for 10 s")
        rig.viewer.leave(now: rig.now)
        #expect(rig.feed.sessionCount == 0 && rig.feed.sessionCountWithout444 == 0)
    }

    @Test("on a slow path it gets the low layer, and the source is asked for no less than 1 Mbit/s")
    func slowPath() throws {
        let rig = FrameRig(500_000)
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.share(seconds: 8, byteCount: 12_000)
        #expect(rig.feed.low?.sessionCount == 1)
        let target = try #require(rig.feed.low.flatMap { rig.viewer.targetBitRate(at: $0) })
        #expect((200_000...600_000).contains(target.bitsPerSecond))
        #expect(rig.track.source.rates.allSatisfy { $0.bitsPerSecond >= 1_000_000 })
    }

    @Test("once the sharer pauses, what is on its way may not be shown, and is not waited for")
    func pause() {
        let rig = FrameRig()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .milliseconds(200))
        rig.path.silentUntil = .distantFuture
        rig.publish { Pictures.delta(5_000, seed: 1, captured: $0) }
        #expect(rig.pictures.count == 2 && rig.pictures[1].isShown())
        rig.hub.setPaused(true)
        #expect(!rig.pictures[1].isShown())
        rig.run(for: .seconds(20))
        #expect(rig.viewer.end == nil, "what was left out can't be confirmed")
        rig.path.silentUntil = .zero
        rig.hub.setPaused(false)
        rig.publish { Pictures.delta(5_000, seed: 2, captured: $0) }
        #expect(rig.pictures.count == 2)
        rig.publish { Pictures.idr(20_000, seed: 3, captured: $0) }
        #expect(rig.pictures.count == 3 && rig.pictures[2].isKeyPicture && rig.pictures[2].isShown())
    }

    @Test("a decoder that can't go on begins again with the last key frame; the source isn't asked for that")
    func keyPicture() {
        let rig = FrameRig()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.publish { Pictures.delta(2_000, seed: 1, captured: $0) }
        rig.run(for: .milliseconds(300))
        let requests = rig.track.source.keyFrameRequests
        for _ in 1...5 { rig.viewer.requestKeyPicture(now: rig.now) }
        #expect(rig.pictures.map(\.isKeyPicture) == [true, false, true, false], "once, however often it asks")
        #expect(rig.feed.record.keyFrameRequests == 5)
        #expect(rig.pictures.map(\.number) == [1, 2, 3, 4])
        #expect(rig.track.source.keyFrameRequests == requests)
    }

    @Test("the server counts it as a viewer that decodes 4:2:0, and ends it with its reason")
    func server() throws {
        let server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        defer { server.stop() }
        let hub = TrackHub(origin: TestSupport.now())
        let source = RecordingSource()
        hub.connect(source: source)
        let frame = Pictures.idr(8_000, captured: TestSupport.now())
        hub.publish(frame, epoch: 1, arrival: TestSupport.now())
        let seen = Seen()
        let id = try server.openFrames(of: WatchedSource(video: hub), for: "192.0.2.1") { picture in
            seen.pictures.withLock { $0.append(picture) }
        } soundSink: { _ in
        } onEnd: { reason in
            seen.end.withLock { $0 = reason }
        }
        #expect(hub.viewers == 1 && hub.wantedChroma == .yuv420)
        try eventually("the picture") { seen.pictures.withLock { $0.first?.bytes } == frame.bytes }
        server.confirmPictures(of: id, through: 1)
        try eventually("its statistics") { server.statistics(of: id)?.roundTripTime != nil }
        let statistics = try #require(server.statistics(of: id))
        #expect(statistics.transport == .webSocket && statistics.framesSent == 1)
        #expect(statistics.address == "192.0.2.1")
        server.close(id)
        try eventually("its end") { seen.end.withLock { $0 } == "closed" }
        #expect(hub.viewers == 0)
        #expect(server.totals.framesSent == 1)
    }

    @Test("the round trip is until a confirmation came, however late the thread takes it")
    func lateThread() {
        let rig = FrameRig()
        rig.viewer.confirm(
            through: 0, arrival: rig.now + .milliseconds(30), now: rig.now + .milliseconds(230))
        #expect(rig.viewer.rate.roundTripTime == .milliseconds(30))
    }

    private final class Seen: Sendable {
        let pictures = Mutex<[WholePicture]>([])
        let end = Mutex<String?>(nil)
    }
}
