import H264
import Ingest
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading
import TrackEncoding
import TrackHub
import VideoDecoding
import X264Encoding

@testable import ScreenRelayKit

@Suite("A track of an application's own pictures")
struct PictureTrackTests {
    private let hub = TrackHub(origin: now())
    private let small = PictureSize(width: 64, height: 48)

    private func picture(_ size: PictureSize, shade: Int) -> I420Picture { .slanted(size, shade: shade) }

    /// A track in a room of its own, which somebody watches.
    private func watchedTrack(highestBitRate: BitRate = BitRate(bitsPerSecond: 8_000_000)) throws -> CustomVideoTrack {
        let track = try CustomVideoTrack(picturesPerSecond: 30, highestBitRate: highestBitRate)
        #expect(track.attach(to: try TrackIngest(hub: hub, log: .silent), recorder: nil))
        hub.viewerCame(decoding: .yuv420, now: now())
        return track
    }

    /// Decodes what a viewer gets, up to a picture like `picture`. Returns the frames.
    @discardableResult
    private func receive(
        _ picture: I420Picture, _ reader: TrackReader, _ decoder: H264Decoder
    ) throws -> [TrackFrame] {
        var frames: [TrackFrame] = []
        try eventually("the picture") {
            for frame in reader.take() {
                frames.append(frame)
                try decoder.decode(frame.coded, copying: false)
            }
            return try decoder.lastPicture().map { $0.likeness(to: picture) > 35 } ?? false
        }
        return frames
    }

    @Test("the pictures come out as they went in, and another size begins with a key frame")
    func likeTheOriginal() throws {
        let track = try watchedTrack()
        defer { track.end(reason: "it was a test") }
        #expect(track.makesKeyFrames)
        let reader = hub.subscribe {}
        let decoder = try H264Decoder()
        for size in [small, PictureSize(width: 130, height: 98), small] {
            for (index, shade) in [40, 100, 160].enumerated() {
                let picture = picture(size, shade: shade)
                #expect(track.write(picture: picture) == nil)
                let frames = try receive(picture, reader, decoder)
                #expect(index > 0 || frames.contains { $0.coded.isRandomAccess && $0.format.size == size })
            }
        }
    }

    @Test("a key frame that is asked for is made of the last picture, without another one")
    func keyFrame() throws {
        let track = try watchedTrack()
        defer { track.end(reason: "it was a test") }
        let reader = hub.subscribe {}
        let decoder = try H264Decoder()
        let written = picture(small, shade: 60)
        track.write(picture: written)
        try receive(written, reader, decoder)
        let before = hub.publishedFrames
        // Asked at most once in 500 ms.
        hub.requestKeyFrame(now: now() + .seconds(1))
        let fresh = try H264Decoder()
        try eventually("a key frame") {
            try reader.take().contains { frame in
                guard frame.number >= before, frame.coded.isRandomAccess else { return false }
                try fresh.decode(frame.coded, copying: false)
                return true
            }
        }
        #expect(try fresh.lastPicture().map { $0.likeness(to: written) > 35 } == true)
    }

    @Test("while nobody watches nothing is encoded, and the next viewer gets the newest picture first")
    func unwatched() throws {
        let track = try CustomVideoTrack(picturesPerSecond: 30)
        for shade in [20, 60] { #expect(track.write(picture: picture(small, shade: shade)) == nil) }
        #expect(track.attach(to: try TrackIngest(hub: hub, log: .silent), recorder: nil))
        defer { track.end(reason: "it was a test") }
        let newest = picture(small, shade: 140)
        for picture in [picture(small, shade: 100), newest] { track.write(picture: picture) }
        #expect(hub.publishedFrames == 0)
        let reader = hub.subscribe {}
        hub.viewerCame(decoding: .yuv420, now: now())
        let decoder = try H264Decoder()
        let frames = try receive(newest, reader, decoder)
        let first = try #require(frames.first)
        #expect(first.coded.isRandomAccess)
        // When it was captured would show as a delay.
        #expect(first.coded.captureTime == nil)
        #expect(decoder.pictureCount == frames.count)
        hub.viewerLeft(decoding: .yuv420, now: now())
    }

    @Test("the last picture stays when the track ends, also if nobody has watched it")
    func end() throws {
        let track = try CustomVideoTrack(picturesPerSecond: 30)
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(track.attach(to: ingest, recorder: nil))
        let last = picture(small, shade: 90)
        for picture in [picture(small, shade: 30), last] { track.write(picture: picture) }
        #expect(hub.publishedFrames == 0)
        track.end(reason: "it was a test")
        let frames = try receive(last, hub.subscribe {}, try H264Decoder())
        #expect(frames.count == 1 && frames[0].coded.isRandomAccess)
        track.write(picture: last)
        #expect(hub.publishedFrames == 1)
        withExtendedLifetime(ingest) {}
    }

    @Test("the bit rate is what the viewers' paths carry, and never more than the application's limit")
    func bitRate() throws {
        let track = try watchedTrack(highestBitRate: BitRate(bitsPerSecond: 2_000_000))
        defer { track.end(reason: "it was a test") }
        let size = PictureSize(width: 128, height: 96)
        let reader = hub.subscribe {}
        var random = SeededRandom(seed: 7)
        func bytesOfASecond() throws -> Int {
            var count = 0
            for index in 0..<45 {
                var bytes: [UInt8] = []
                for _ in 0..<size.width * size.height * 3 / 2 {
                    bytes.append(UInt8.random(in: 64...192, using: &random))
                }
                let before = hub.publishedFrames
                track.write(
                    picture: I420Picture(
                        size: size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: nil))
                try eventually("the frame") { hub.publishedFrames > before }
                let frames = reader.take()
                // The first pictures still use up what the higher rate had left over.
                if index >= 15 { count += frames.reduce(0) { $0 + $1.coded.bytes.count } }
            }
            return count
        }
        // A second at 2 Mbit/s is 250 kB.
        reader.report(PathReport(targets: [BitRate(bitsPerSecond: 900_000_000)]), now: now())
        let before = try bytesOfASecond()
        #expect(before < 375_000)
        reader.report(PathReport(targets: [BitRate(bitsPerSecond: 300_000)]), now: now())
        let after = try bytesOfASecond()
        #expect(after < before / 3, "\(before) and \(after)")
    }

    @Test("a track takes what it was made for, and pictures whose planes fit their size")
    func refused() throws {
        let pictures = try watchedTrack()
        defer { pictures.end(reason: "it was a test") }
        let frame = CodedFrame(
            h264: [0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0x65, 3],
            units: [4..<6, 10..<12, 16..<18], captureTime: nil)
        #expect(pictures.write(frame) == .wrongKind)
        let (none, negative) = (PictureSize(width: 0, height: 8), PictureSize(width: -2, height: 2))
        for (size, count) in [(small, 3), (none, 0), (negative, 0)] {
            let broken = I420Picture(
                size: size, bytes: [UInt8](repeating: 0, count: count), isFullRange: false, matrix: .bt601,
                captureTime: nil)
            #expect(pictures.write(picture: broken) == .wrongSize)
        }
        #expect(hub.publishedFrames == 0)
        let frames = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(frames.write(picture: picture(small, shade: 40)) == .wrongKind)
        #expect(frames.write(frame) == .notPublished)
        #expect(frames.attach(to: try TrackIngest(hub: TrackHub(origin: now()), log: .silent), recorder: nil))
        #expect(frames.write(frame) == nil)
        let sound = CodedFrame(
            bytes: [0, 0, 0, 1, 0xF0], units: [4..<5], isRandomAccess: true, captureTime: nil,
            format: TrackFormat(codec: .opus))
        #expect(frames.write(sound) == .wrongCodec)
        #expect(frames.write(CodedFrame(h264: [], units: [], captureTime: nil)) == .empty)
        frames.end(reason: "it was a test")
        #expect(frames.write(frame) == .notPublished)
    }

    @Test("an encoder that fails is told to the application, and the next picture gets another one")
    func encoderFailure() throws {
        struct NoMemory: Error {}
        let fails = Mutex(true)
        let made = TrackEncoder(picturesPerSecond: 30, highestRate: BitRate(bitsPerSecond: 1_000_000)) {
            if fails.withLock({ $0 }) { throw NoMemory() }
            return try X264Encoder($0)
        }
        let encoder = try #require(made)
        let track = try CustomVideoTrack(encoder, feedback: .init(keyFrameWanted: {}))
        #expect(track.attach(to: try TrackIngest(hub: hub, log: .silent), recorder: nil))
        defer { track.end(reason: "it was a test") }
        // While nobody watches, it is kept, and not encoded yet.
        #expect(track.write(picture: picture(small, shade: 20)) == nil)
        hub.viewerCame(decoding: .yuv420, now: now())
        // Meanwhile another thread may be failing with the picture before.
        try eventually("it is told") { track.write(picture: picture(small, shade: 40)) == .encoderFailed ? () : nil }
        #expect(hub.publishedFrames == 0)
        fails.withLock { $0 = false }
        // Another thread may have failed with the same picture meanwhile.
        try eventually("a picture is encoded") { track.write(picture: picture(small, shade: 60)) == nil ? () : nil }
        try eventually("it is published") { hub.publishedFrames > 0 ? () : nil }
    }
}
