import MediaTypes
import TestSupport
import Testing
import Threading
import TrackHub
import VideoDecoding

@testable import Ingest

@Suite("The low layer of a track")
struct LowLayerTests {
    private let hub = TrackHub(origin: now())

    /// What a reader of the low layer sees.
    private final class Watcher {
        let reader: TrackReader
        private let decoder: H264Decoder
        private(set) var frames: [TrackFrame] = []

        init(_ hub: TrackHub) throws {
            reader = hub.subscribe(to: .low) {}
            decoder = try H264Decoder()
        }

        /// The shade of the newest picture; nil before the first.
        func shade() throws -> Int? {
            for frame in reader.take() {
                try decoder.decode(frame.coded, copying: true)
                frames.append(frame)
            }
            return try decoder.lastPicture()?.shade
        }
    }

    @Test("is encoded only while somebody takes it, and begins with a key frame that shows the newest picture")
    func begin() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource()))
        let pictures = try PlainPictures()
        let watcher = try Watcher(hub)
        ingest.deliver(try pictures.next(shade: 50, isIDR: true), epoch: 1, arrival: now())
        ingest.deliver(try pictures.next(shade: 90), epoch: 1, arrival: now())
        #expect(try ingest.snapshotShade() == 90)
        #expect(try watcher.shade() == nil)
        hub.report(BitRate(bitsPerSecond: 600_000), of: .low)
        try eventually("the first picture of the low layer") { try watcher.shade().map { abs($0 - 90) < 4 } == true }
        #expect(watcher.frames.first?.coded.isRandomAccess == true)
        #expect(watcher.frames.dropFirst().allSatisfy { !$0.coded.isRandomAccess })
        ingest.deliver(try pictures.next(shade: 130), epoch: 1, arrival: now())
        try eventually("the next picture") { try watcher.shade().map { abs($0 - 130) < 4 } == true }
        let times = watcher.frames.map(\.time.ticks)
        #expect(times == times.sorted())
    }

    @Test("hides what was before a pause, and goes on with a key frame")
    func pause() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource()))
        let pictures = try PlainPictures()
        let watcher = try Watcher(hub)
        hub.report(BitRate(bitsPerSecond: 600_000), of: .low)
        ingest.deliver(try pictures.next(shade: 50, isIDR: true), epoch: 1, arrival: now())
        try eventually("the first picture") { try watcher.shade() != nil }
        hub.setPaused(true)
        _ = try watcher.shade()
        let hidden = hub.firstShown(of: .low)
        #expect(watcher.frames.allSatisfy { $0.number < hidden })
        let count = watcher.frames.count
        ingest.deliver(try pictures.next(shade: 90), epoch: 1, arrival: now())
        hub.setPaused(false)
        ingest.deliver(try pictures.next(shade: 130, isIDR: true), epoch: 1, arrival: now())
        try eventually("the picture after the pause") { try watcher.shade().map { abs($0 - 130) < 4 } == true }
        #expect(watcher.frames[count].coded.isRandomAccess)
        #expect(watcher.frames[count].number >= hidden)
    }

    @Test("has fewer pictures on a slower path, and never more bytes than it carries")
    func rate() throws {
        let size = PictureSize(width: 320, height: 240)
        var random = SeededRandom(seed: 320)
        /// Encodes a noisy picture each 33 ms for four seconds. Returns how many pictures that gave, and their bits.
        func run(_ bitsPerSecond: Int, sourceBytes: Int = 400) throws -> (pictures: Int, bits: Int) {
            var encoder = LowLayerEncoder()
            encoder.setRate(BitRate(bitsPerSecond: bitsPerSecond), now: .zero)
            var (pictures, bits) = (0, 0)
            for tick in 0..<120 {
                let time = MonotonicTime.zero + .milliseconds(Int64(tick) * 33)
                encoder.pictureDecoded(byteCount: sourceBytes)
                guard let due = encoder.deadline, due <= time else { continue }
                let noise = (0..<size.width * size.height * 3 / 2).map { _ in UInt8.random(in: 60...200, using: &random)
                }
                let picture = I420Picture(
                    size: size, bytes: noise, isFullRange: false, matrix: .bt601, captureTime: time)
                bits += try encoder.encode(picture, now: time).bytes.count * 8
                pictures += 1
            }
            return (pictures, bits)
        }
        let slow = try run(400_000)
        let fast = try run(4_000_000)
        #expect(slow.pictures < fast.pictures)
        // Motion of the whole picture is coarser than text would be, so that there are a few pictures a second.
        #expect(try run(800_000).pictures > 14)
        // The quantizer of a video is chosen for more pictures a second than that of such a motion.
        #expect(try run(2_500_000, sourceBytes: 500).pictures > run(2_500_000).pictures)
        // The last picture may be under way when the time is over; here it is at most a fifth of a second of the rate.
        #expect(fast.bits < 4_000_000 * 4 * 6 / 5)
    }

    @Test("has half the size where too few frames of the whole picture fit, and the full one where it stands still")
    func halved() throws {
        let size = PictureSize(width: 320, height: 240)
        var random = SeededRandom(seed: 320)
        let decoder = try H264Decoder()
        var lastSize: PictureSize?
        var encoder = LowLayerEncoder()
        encoder.setRate(BitRate(bitsPerSecond: 250_000), now: .zero)
        func noise() -> I420Picture {
            let bytes = (0..<size.width * size.height * 3 / 2).map { _ in UInt8.random(in: 60...200, using: &random) }
            return I420Picture(size: size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: .zero)
        }
        /// Encodes what is due for some time; a new picture each 33 ms if it `moves`. Returns the frames in each size.
        var (time, picture) = (MonotonicTime.zero, noise())
        func run(for duration: Interval, moves: Bool) throws -> [PictureSize: Int] {
            var frames: [PictureSize: Int] = [:]
            let end = time + duration
            while time < end {
                time = time + .milliseconds(33)
                if moves {
                    picture = noise()
                    encoder.pictureDecoded(byteCount: 400)
                }
                guard let due = encoder.deadline, due <= time else { continue }
                let frame = try encoder.encode(picture, now: time)
                try decoder.decode(frame, copying: true)
                let size = try #require(decoder.lastPictureSize)
                // Another size needs a key frame, and nothing else does.
                #expect(frame.isRandomAccess == (frames[size] == nil && lastSize != size))
                lastSize = size
                frames[size, default: 0] += 1
            }
            return frames
        }
        let half = PictureSize(width: 160, height: 120)
        let moving = try run(for: .seconds(8), moves: true)
        #expect(moving[half] ?? 0 > 40, "\(moving)")
        #expect(moving[size] ?? 0 < 10, "\(moving)")
        let still = try run(for: .seconds(8), moves: false)
        #expect(still[half] ?? 0 < 2 && still[size] ?? 0 > 2, "\(still)")
    }

    @Test("a path that carries fine pictures gets them from the key frame on")
    func fineStart() throws {
        let size = PictureSize(width: 320, height: 240)
        func noise(seed: UInt64) -> I420Picture {
            var random = SeededRandom(seed: seed)
            let bytes = (0..<size.width * size.height * 3 / 2).map { _ in UInt8.random(in: 60...200, using: &random) }
            return I420Picture(size: size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: .zero)
        }
        /// The sizes of a key frame and of the next picture.
        func run(_ bitsPerSecond: Int) throws -> (key: Int, next: Int) {
            var encoder = LowLayerEncoder()
            encoder.setRate(BitRate(bitsPerSecond: bitsPerSecond), now: .zero)
            let key = try encoder.encode(noise(seed: 1), now: .zero)
            encoder.pictureDecoded(byteCount: 400)
            let next = try encoder.encode(noise(seed: 2), now: MonotonicTime.zero + .seconds(1))
            return (key.bytes.count, next.bytes.count)
        }
        let coarse = try run(4_000_000)
        let fine = try run(20_000_000)
        #expect(coarse.key < fine.key && coarse.next < fine.next)
    }

    @Test("what is under way when the rate changes takes as long as the new rate says")
    func otherRate() throws {
        var encoder = LowLayerEncoder()
        encoder.setRate(BitRate(bitsPerSecond: 200_000), now: .zero)
        let size = PictureSize(width: 64, height: 64)
        let picture = I420Picture(
            size: size, bytes: (0..<size.width * size.height * 3 / 2).map { UInt8(truncatingIfNeeded: $0 &* 97) },
            isFullRange: false, matrix: .bt601, captureTime: .zero)
        var bits = Double(try encoder.encode(picture, now: .zero).bytes.count * 8)
        encoder.pictureDecoded(byteCount: 100)
        var rate = 200_000.0
        var now = MonotonicTime.zero
        for next in [400_000.0, 100_000, 2_000_000] {
            // A millisecond of the old rate has passed.
            now = now + .milliseconds(1)
            bits -= rate / 1000
            rate = next
            encoder.setRate(BitRate(bitsPerSecond: Int(rate)), now: now)
            let due = try #require(encoder.deadline)
            #expect(abs((due - now).seconds - bits / rate) < 1e-6)
        }
    }

    @Test("what nobody may see is not encoded again, and what follows it begins with a key frame")
    func heldBack() throws {
        var encoder = LowLayerEncoder()
        encoder.setRate(BitRate(bitsPerSecond: 500_000), now: .zero)
        let picture = I420Picture(
            size: PictureSize(width: 64, height: 64), bytes: [UInt8](repeating: 90, count: 64 * 64 * 3 / 2),
            isFullRange: false, matrix: .bt601, captureTime: .zero)
        _ = try encoder.encode(picture, now: .zero)
        let ways: [(inout LowLayerEncoder) -> Void] = [{ $0.pictureDecoded(byteCount: 100) }, { $0.requestKeyFrame() }]
        for goOn in ways {
            encoder.holdBack()
            #expect(encoder.deadline == nil)
            goOn(&encoder)
            let due = try #require(encoder.deadline)
            #expect(try encoder.encode(picture, now: due).isRandomAccess)
        }
    }

    @Test("a picture that stands still becomes fine, and then costs nothing")
    func refinement() throws {
        var encoder = LowLayerEncoder()
        #expect(encoder.deadline == nil)
        encoder.setRate(BitRate(bitsPerSecond: 500_000), now: .zero)
        let size = PictureSize(width: 64, height: 64)
        let picture = I420Picture(
            size: size, bytes: (0..<size.width * size.height * 3 / 2).map { UInt8(truncatingIfNeeded: $0 &* 97) },
            isFullRange: false, matrix: .bt601, captureTime: .zero)
        var pictures = 0
        while let due = encoder.deadline {
            let frame = try encoder.encode(picture, now: due)
            #expect(frame.isRandomAccess == (pictures == 0))
            pictures += 1
            try #require(pictures < 20)
        }
        #expect(pictures > 2)
    }
}

extension TrackIngest {
    /// The shade of the last picture.
    fileprivate func snapshotShade() throws -> Int? {
        let answers = Answers()
        snapshot(timeout: .seconds(10)) { answers.add($0) }
        try eventually("a snapshot") { !answers.all.isEmpty }
        return answers.all[0]
    }
}
