import CaptureLink
import MediaTypes
import Synchronization
import TestSupport
import TrackHub
import X264Encoding

@testable import Ingest

extension TrackIngest {
    /// Delivers a unit as the track's source, whichever that is.
    func deliver(_ unit: CodedFrame, epoch: UInt64, arrival: MonotonicTime) {
        guard let source = hub.source else { return }
        deliver(unit, from: source, epoch: epoch, arrival: arrival)
    }
}

extension TrackHub {
    /// Adds `change` viewers that decode any format; -1 removes one.
    func changeViewers(by change: Int) {
        if change > 0 { viewerCame(decoding: .yuv444, now: now()) } else { viewerLeft(decoding: .yuv444, now: now()) }
    }

    /// Reports, as a reader that leaves at once, a path that can take `rate` of `layer`.
    func report(_ rate: BitRate, of layer: Layer = .source) {
        subscribe(to: layer) {}.report(PathReport(targets: [rate]), now: now())
    }
}

/// Encodes plain pictures, each with a shade that identifies it.
final class PlainPictures {
    let size: PictureSize
    private let encoder: X264Encoder
    private var count: Int64 = 0

    init(size: PictureSize = PictureSize(width: 64, height: 48)) throws {
        self.size = size
        encoder = try X264Encoder(
            X264Configuration(
                size: size, framesPerSecond: 30,
                rate: .ceiling(BitRate(bitsPerSecond: 4_000_000))))
    }

    /// The next picture, in one shade, with the capture time now.
    func next(shade: UInt8, isIDR: Bool = false) throws -> CodedFrame {
        count += 1
        let samples = size.width * size.height
        let picture = I420Picture(
            size: size,
            bytes: [UInt8](repeating: shade, count: samples) + [UInt8](repeating: 128, count: samples / 2),
            isFullRange: false, matrix: .bt601, captureTime: now())
        return try encoder.accessUnit(of: picture, forceIDR: isIDR, time: MediaTime(ticks: count * 3000))
    }
}

extension I420Picture {
    /// The shade in the middle of the picture.
    var shade: Int { Int(bytes[size.width * (size.height / 2) + size.width / 2]) }
}

/// A source that remembers what it was asked for.
final class AskedSource: PictureSource {
    /// A request to a source.
    struct Asked {
        var idrs = 0
        var pictures = 0
        var running: [Bool] = []
        var rates: [BitRate] = []
        var frameRates: [FrameRate] = []
        var sharpenings = 0
    }

    let makesKeyFrames: Bool
    let asked = Mutex(Asked())

    init(makesKeyFrames: Bool = true) {
        self.makesKeyFrames = makesKeyFrames
    }

    func requestKeyFrame() { asked.withLock { $0.idrs += 1 } }
    func requestPicture() { asked.withLock { $0.pictures += 1 } }
    func setWatched(_ isRunning: Bool) { asked.withLock { $0.running.append(isRunning) } }
    func setTargetBitRate(_ rate: BitRate) { asked.withLock { $0.rates.append(rate) } }
    func setFrameRate(_ rate: FrameRate) { asked.withLock { $0.frameRates.append(rate) } }
    let obeys = SourceOrders.sharpen
    func sharpen() { asked.withLock { $0.sharpenings += 1 } }

    var idrs: Int { asked.withLock { $0.idrs } }
    var running: [Bool] { asked.withLock { $0.running } }
}

/// The answers to snapshot requests, in the order in which they came; nil stands for no picture.
final class Answers: Sendable {
    private let pictures = Mutex<[I420Picture?]>([])

    func add(_ picture: I420Picture?) { pictures.withLock { $0.append(picture) } }
    /// The shades of the answers.
    var all: [Int?] { pictures.withLock { $0.map { $0?.shade } } }
    /// The size of the last picture.
    var size: PictureSize? { pictures.withLock { $0.last.flatMap { $0?.size } } }
}
