import CaptureLink
import Clocks
import ColorConversion
import H264
import LinkTransport
import MediaTypes
import RateControl
import TestSupport
import Testing
import VideoDecoding
import VideoEncoding

@testable import CaptureEngine

@Suite("The coder of pictures")
struct PictureCoderTests {
    private func account(bitRate: Int) -> PictureAccount {
        PictureAccount(RateController(bitRate: BitRate(bitsPerSecond: bitRate), period: .milliseconds(33)))
    }

    /// A picture of noise, coded at a fine quantizer behind one in grey.
    private func noise(atMost bytes: Int) throws -> PictureCoder.Picture {
        let canvas = PictureCanvas(PictureSize(width: 320, height: 240), chroma: .yuv420)
        let account = account(bitRate: 100_000_000)
        let coder = try PictureCoder(
            canvas, CaptureConfiguration(link: .descriptor(-1)), account: account, maxBytes: bytes, onWarning: { _ in })
        coder.quality.selectAll()
        func given(_ kind: PictureKind, _ qp: Int) -> RateController.Decision {
            account.rate.given(kind, macroblocks: coder.quality.selectedCount, qp: qp)
        }
        _ = try coder.encode(given(.keyFrame, 30), at: now())
        var random = SeededRandom(seed: 20_261_124)
        for index in 0..<320 * 240 { canvas.destination().luma[index] = UInt8.random(in: 0...255, using: &random) }
        coder.quality.selectAll()
        return try coder.encode(given(.change, 10), at: now())
    }

    @Test("a picture that is too large for the link is coded once more, as a coarser key frame")
    func tooLarge() throws {
        let fine = try noise(atMost: .max)
        let count = fine.encoded.byteCount
        #expect(!fine.encoded.isRandomAccess && fine.qp == 10)
        let coarse = try noise(atMost: count / 3)
        #expect(coarse.encoded.isRandomAccess && coarse.qp > 10)
        #expect(coarse.encoded.byteCount <= count / 3)
        // No quantizer makes it that small: it is sent as small as can be.
        #expect(try noise(atMost: 100).qp == QP.maximum)
    }

    /// The quantizers of the frames that refine 640x480 of noise, coded at QP 40, over a link of so many bits per
    /// second.
    private func refinement(bitRate: Int) throws -> [Int] {
        let size = PictureSize(width: 640, height: 480)
        let canvas = PictureCanvas(size, chroma: .yuv420)
        let account = account(bitRate: bitRate)
        let coder = try PictureCoder(
            canvas, CaptureConfiguration(link: .descriptor(-1)), account: account, maxBytes: .max, onWarning: { _ in })
        var random = SeededRandom(seed: 20_261_125)
        for index in 0..<640 * 480 { canvas.destination().luma[index] = UInt8.random(in: 0...255, using: &random) }
        coder.quality.selectAll()
        var time = MonotonicTime.now()
        let key = account.rate.given(.keyFrame, macroblocks: coder.quality.selectedCount, qp: 40)
        _ = try coder.encode(key, at: time)
        var found: [Int] = []
        while found.count < 500 {
            guard let due = coder.refinementDue else { return found }
            time = max(time, max(due, .now())) + .milliseconds(1)
            switch try coder.refine(at: time) {
            case .picture(let picture): found.append(picture.qp)
            case .later(let until): time = max(time, until)
            case .nothing, .unchanged: time = time + .milliseconds(33)
            }
        }
        return found
    }

    @Test("where the finest takes long, everything is refined to good first, and elsewhere to the finest at once")
    func goodFirst() throws {
        // What it costs is known after the first one.
        let slow = try refinement(bitRate: 1_000_000).dropFirst()
        #expect(Set(slow) == [18, 14] && Array(slow) == slow.sorted(by: >), "\(slow)")
        #expect(Set(try refinement(bitRate: 200_000_000)) == [14])
    }

    @Test(
        "what a whole picture codes again is then as fine as the rest of it, in one slice and in strips",
        arguments: [(640, 480), (2720, 816)])
    func restIsCoded(side: (Int, Int)) throws {
        let size = PictureSize(width: side.0, height: side.1)
        let canvas = PictureCanvas(size, chroma: .yuv420)
        let account = account(bitRate: 100_000_000)
        let coder = try PictureCoder(
            canvas, CaptureConfiguration(link: .descriptor(-1)), account: account, onWarning: { _ in })
        let decoder = try H264Decoder()
        func paint(_ columns: Range<Int>, seed: UInt64) {
            var random = SeededRandom(seed: seed)
            for row in 0..<side.1 {
                for column in columns {
                    canvas.destination().luma[row * side.0 + column] = UInt8.random(in: 60...140, using: &random)
                }
            }
        }
        func encode(_ decision: RateController.Decision) throws {
            let picture = try coder.encode(decision, at: .now())
            var bytes: [UInt8] = []
            for unit in picture.encoded { bytes += [0, 0, 0, 1] + unit }
            try decoder.decode(CodedFrame(annexB: bytes), copying: false)
        }
        paint(0..<side.0, seed: 1)
        coder.quality.selectAll()
        try encode(account.rate.given(.keyFrame, macroblocks: coder.quality.selectedCount, qp: 40))
        // On the right, something changes in every row.
        let changed = PixelRectangle(x: side.0 / 2, y: 0, width: side.0 / 2, height: side.1)
        paint(changed.x..<side.0, seed: 2)
        coder.quality.select([changed])
        try encode(account.rate.given(.change, macroblocks: coder.quality.selectedCount, qp: 20))
        #expect(coder.quality.count(above: 20) == 0)
        let seen = try #require(try decoder.lastPicture())
        var worst = 0
        for index in 0..<side.0 * side.1 {
            worst = max(worst, abs(Int(seen.bytes[index]) - Int(canvas.destination().luma[index])))
        }
        #expect(worst < 24, "\(worst)")
    }

    @Test("the canvas knows by how much what is coded differs from the previous picture")
    func difference() {
        let canvas = PictureCanvas(PictureSize(width: 320, height: 240), chroma: .yuv420)
        let whole = PixelRectangle(x: 0, y: 0, width: 320, height: 240)
        var motion = GlobalMotion(x: 0, y: 0, macroblocks: 20 * 15)
        motion.states = [UInt8](repeating: GlobalMotion.State.coded.rawValue, count: 20 * 15)
        motion.codedCount = 20 * 15
        #expect(canvas.difference(of: motion) == nil)
        for index in 0..<320 * 240 { canvas.destination().luma[index] = 100 }
        canvas.keepPicture(before: [whole])
        // The left half becomes brighter, the upper part of the right one darker.
        for index in 0..<320 * 240 {
            canvas.destination().luma[index] = index % 320 < 160 ? 140 : index / 320 < 48 ? 50 : 100
        }
        #expect(canvas.difference(of: motion) == 25.0)
        for index in motion.states.indices where index % 20 >= 10 {
            motion.states[index] = GlobalMotion.State.still.rawValue
        }
        motion.codedCount = 150
        #expect(canvas.difference(of: motion) == 40.0)
    }
}
