import H264
import Ingest
import MediaTypes
import Signalling
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub
import X264Encoding

@testable import ScreenRelayKit

@Suite("An application's own track")
struct CustomVideoTrackTests {
    /// What a track has told its application.
    private final class Told: Sendable {
        let keyFrames = Mutex(0)
        let rates = Mutex<[BitRate]>([])
        let watched = Mutex<[Bool]>([])

        var feedback: CustomVideoTrack.Feedback {
            CustomVideoTrack.Feedback(
                keyFrameWanted: { self.keyFrames.withLock { $0 += 1 } },
                targetBitRateChanged: { rate in self.rates.withLock { $0.append(rate) } },
                watchedChanged: { isWatched in self.watched.withLock { $0.append(isWatched) } })
        }
    }

    private let hub = TrackHub(origin: now())
    private let picture = CodedFrame(
        h264: [0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0x65, 3], units: [4..<6, 10..<12, 16..<18],
        captureTime: nil)

    @Test("what is written is what viewers get, in order and on one timeline")
    func write() throws {
        let track = CustomVideoTrack(feedback: Told().feedback)
        #expect(track.attach(to: try TrackIngest(hub: hub, log: .silent), recorder: nil))
        let reader = hub.subscribe {}
        for _ in 0..<3 { track.write(picture) }
        let units = reader.take()
        #expect(units.map(\.coded.bytes) == [picture.bytes, picture.bytes, picture.bytes])
        #expect(zip(units, units.dropFirst()).allSatisfy { $0.time < $1.time })
    }

    @Test("what is written to a track that the room refuses never reaches the room, not even meanwhile")
    func refused() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let first = CustomVideoTrack(feedback: Told().feedback)
        #expect(first.attach(to: ingest, recorder: nil))
        let reader = hub.subscribe {}
        let second = CustomVideoTrack(feedback: Told().feedback)
        // As `write` would at the moment in which the room has been named and not answered yet.
        ingest.deliver(picture, from: second, epoch: 2, arrival: now())
        #expect(!second.attach(to: ingest, recorder: nil))
        second.write(picture)
        #expect(reader.take().isEmpty)
        first.write(picture)
        #expect(reader.take().count == 1)
    }

    @Test("a track that is published a second time stays where it is")
    func publishedTwice() throws {
        let track = CustomVideoTrack(feedback: Told().feedback)
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(track.attach(to: ingest, recorder: nil))
        let otherHub = TrackHub(origin: now())
        let other = try TrackIngest(hub: otherHub, log: .silent)
        for next in [ingest, other] { #expect(!track.attach(to: next, recorder: nil)) }
        let (reader, otherReader) = (hub.subscribe {}, otherHub.subscribe {})
        track.write(picture)
        #expect(reader.take().count == 1 && otherReader.take().isEmpty)
        #expect(other.hub.sourceState == .waiting)
        track.end(reason: "it was a test")
        #expect(track.attach(to: other, recorder: nil))
    }

    @Test("an application that has both chroma formats hears which one all viewers decode; others don't")
    func chroma() throws {
        for changesChroma in [true, false] {
            let formats = Mutex<[ChromaFormat]>([])
            let track = CustomVideoTrack(
                changesChroma: changesChroma,
                feedback: CustomVideoTrack.Feedback(
                    keyFrameWanted: {}, chromaWanted: { format in formats.withLock { $0.append(format) } }))
            let hub = TrackHub(origin: now())
            #expect(track.attach(to: try TrackIngest(hub: hub, log: .silent), recorder: nil))
            hub.viewerCame(decoding: .yuv444, now: now())
            hub.viewerCame(decoding: .yuv420, now: now())
            hub.viewerLeft(decoding: .yuv420, now: now() - .seconds(3))
            hub.pollChroma(now: now())
            #expect(formats.withLock { $0 } == (changesChroma ? [.yuv420, .yuv444] : []))
        }
    }

    @Test("its application hears of IDRs that are wanted, of the bit rate, and of who watches")
    func wayBack() throws {
        let told = Told()
        let track = CustomVideoTrack(feedback: told.feedback)
        #expect(track.viewers == 0)
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(track.attach(to: ingest, recorder: nil))
        for _ in 0..<2 { hub.viewerCame(decoding: .yuv444, now: now()) }
        #expect(track.viewers == 2)
        hub.requestKeyFrame(now: now())
        let slow = PathReport(targets: [BitRate(bitsPerSecond: 500_000)])
        hub.subscribe {}.report(slow, now: now())
        for _ in 0..<2 { hub.viewerLeft(decoding: .yuv444, now: now()) }
        #expect(told.keyFrames.withLock { $0 } == 1)
        #expect(told.rates.withLock { $0 } == [BitRate(bitsPerSecond: 500_000)])
        #expect(told.watched.withLock { $0 } == [false, true, false])
        #expect(ingest.hub.sourceState == .live)
    }

    @Test("outside a room writing does nothing, and a room has one track at a time")
    func outside() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let first = CustomVideoTrack(feedback: Told().feedback)
        let second = CustomVideoTrack(feedback: Told().feedback)
        first.write(picture)
        #expect(first.attach(to: ingest, recorder: nil))
        #expect(!second.attach(to: ingest, recorder: nil))
        second.write(picture)
        #expect(hub.publishedFrames == 0)
        first.write(picture)
        #expect(hub.publishedFrames == 1)
        first.end(reason: "the show is over")
        first.end(reason: "again")
        first.write(picture)
        #expect(hub.publishedFrames == 1)
        guard case .gone(_, "the show is over") = ingest.hub.sourceState else {
            Issue.record("\(ingest.hub.sourceState)")
            return
        }
        #expect(second.attach(to: ingest, recorder: nil))
    }

    @Test("published by a host it can be seen over the network")
    func published() throws {
        let host = try ScreenRelayHost(.anyPorts)
        defer { host.stop() }
        let told = Told()
        let track = CustomVideoTrack(feedback: told.feedback)
        #expect(host.firstTrack.publish(track))
        #expect(!host.firstTrack.publish(CustomVideoTrack(feedback: Told().feedback)))
        let size = PictureSize(width: 64, height: 48)
        let encoder = try X264Encoder(
            X264Configuration(
                size: size, framesPerSecond: 30,
                rate: .ceiling(BitRate(bitsPerSecond: 1_000_000))))
        let grey = I420Picture(
            size: size, bytes: [UInt8](repeating: 128, count: 64 * 48 * 3 / 2), isFullRange: false, matrix: .bt601,
            captureTime: nil)
        track.write(try encoder.accessUnit(of: grey, forceIDR: true, time: MediaTime(ticks: 0)))
        #expect(host.viewers == 0)

        // The snapshot wakes the application, and waits for its next picture.
        let link = host.link
        let png = Mutex<[UInt8]>([])
        let thread = NamedThread("snapshot") {
            let bytes = (try? SnapshotClient().fetchSnapshot(link: link, format: .png)) ?? []
            png.withLock { $0 = bytes }
        }
        try eventually("the application to be woken", holds: { told.watched.withLock { $0 } == [false, true] })
        track.write(try encoder.accessUnit(of: grey, forceIDR: false, time: MediaTime(ticks: 3000)))
        thread?.join()
        let bytes = png.withLock { $0 }
        try #require(bytes.count >= 24)
        #expect(Array(bytes[16..<24]) == [0, 0, 0, 64, 0, 0, 0, 48])
        try eventually(
            "the application to be left alone", holds: { told.watched.withLock { $0 } == [false, true, false] })
    }
}
