import H264
import Ingest
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub
import X264Encoding

@testable import ScreenRelayKit

@Suite("What an application reads of a track")
struct TrackFramesTests {
    private let hub = TrackHub(origin: now())
    private let size = PictureSize(width: 64, height: 48)

    /// Encodes grey pictures of these shades, the first as a key frame.
    private func frames(_ shades: [UInt8]) throws -> [CodedFrame] {
        let encoder = try X264Encoder(
            X264Configuration(
                size: size, framesPerSecond: 30,
                rate: .ceiling(BitRate(bitsPerSecond: 4_000_000))))
        return try shades.enumerated().map { index, shade in
            let samples = size.width * size.height
            let picture = I420Picture(
                size: size,
                bytes: [UInt8](repeating: shade, count: samples) + [UInt8](repeating: 128, count: samples / 2),
                isFullRange: false, matrix: .bt601, captureTime: now())
            return try encoder.accessUnit(
                of: picture, forceIDR: index == 0, time: MediaTime(ticks: Int64(index) * 3000))
        }
    }

    @Test(
        "is every frame from the last key frame on, and it counts as a viewer while it reads", .timeLimit(.minutes(10)))
    func codedFrames() async throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(track.attach(to: ingest, recorder: nil))
        let written = try frames([50, 60, 70])
        let first = TrackFrames(hub: hub).makeAsyncIterator()
        #expect(hub.viewers == 1)
        for frame in written { track.write(frame) }
        var read: [TrackFrame] = []
        var (early, late) = (first, TrackFrames(hub: hub).makeAsyncIterator())
        for _ in written {
            let frame = await early.next()
            read.append(try #require(frame))
            let same = await late.next()
            #expect(same?.number == frame?.number)
        }
        #expect(read.map(\.coded.bytes) == written.map(\.bytes))
        #expect(read.allSatisfy { $0.format == TrackFormat(codec: .h264, chroma: .yuv420, size: size) })
        let waiting = Task { [hub] in
            var frames = TrackFrames(hub: hub).makeAsyncIterator()
            for _ in written { _ = await frames.next() }
            return await frames.next() == nil
        }
        // Tests that wait in other ways may hold up the task: the suite's time limit is the deadline.
        while hub.viewers < 3 { await Task.yield() }
        waiting.cancel()
        #expect(await waiting.value)
        while hub.viewers > 2 { await Task.yield() }
    }

    @Test(
        "are the decoded pictures; what can't be decoded is left out, and a key frame asked for",
        .timeLimit(.minutes(10)))
    func pictures() async throws {
        let asked = Mutex(0)
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let track = CustomVideoTrack(feedback: .init(keyFrameWanted: { asked.withLock { $0 += 1 } }))
        #expect(track.attach(to: ingest, recorder: nil))
        var pictures = TrackPictures(hub: hub).makeAsyncIterator()
        let good = try frames([50, 90])
        for frame in good { track.write(frame) }
        for shade in [50, 90] {
            let picture = try await pictures.next()
            #expect(abs(Int(try #require(picture?.bytes.first)) - shade) <= 3)
        }
        track.write(CodedFrame(h264: [0, 0, 0, 1, 0x41, 0xFF], units: [4..<6], captureTime: nil))
        for frame in try frames([200]) { track.write(frame) }
        let next = try await pictures.next()
        #expect(abs(Int(try #require(next?.bytes.first)) - 200) <= 3)
        #expect(asked.withLock { $0 } > 0)
    }
}
