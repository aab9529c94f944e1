import CaptureLink
import ColorConversion
import LinkTransport
import MediaTypes
import RateControl
import TestSupport
import Testing
import VideoEncoding

@testable import CaptureEngine

@Suite("The coder of pictures")
struct PictureCoderTests {
    /// A picture of noise, coded at a fine quantizer behind one in grey.
    private func noise(atMost bytes: Int) throws -> PictureCoder.Picture {
        let canvas = PictureCanvas(PictureSize(width: 320, height: 240), chroma: .yuv420)
        let coder = try PictureCoder(
            canvas, CaptureConfiguration(link: .descriptor(-1)), mostBytes: bytes, onWarning: { _ in })
        var rate = RateController(bitRate: BitRate(bitsPerSecond: 100_000_000), period: .milliseconds(33))
        var statistics = CaptureStatistics()
        coder.quality.activateAll()
        func given(_ kind: PictureKind, _ quantizer: Int) -> RateController.Decision {
            rate.given(kind, macroblocks: coder.quality.activeCount, quantizer: quantizer)
        }
        _ = try coder.encode(given(.keyFrame, 30), now(), &rate, &statistics)
        var random = SeededRandom(seed: 20_261_124)
        for index in 0..<320 * 240 { canvas.destination.luma[index] = UInt8.random(in: 0...255, using: &random) }
        coder.quality.activateAll()
        return try coder.encode(given(.change, 10), now(), &rate, &statistics)
    }

    @Test("a picture that is too large for the link is coded once more, as a coarser key frame")
    func tooLarge() throws {
        let fine = try noise(atMost: .max)
        let count = fine.encoded.byteCount
        #expect(!fine.encoded.isRandomAccess && fine.quantizer == 10)
        let coarse = try noise(atMost: count / 3)
        #expect(coarse.encoded.isRandomAccess && coarse.quantizer > 10)
        #expect(coarse.encoded.byteCount <= count / 3)
        // No quantizer makes it that small: it is sent as small as can be.
        #expect(try noise(atMost: 100).quantizer == Quantizer.coarsest)
    }
}
