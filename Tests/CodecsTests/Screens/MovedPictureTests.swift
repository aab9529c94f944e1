import MediaTypes
import TestSupport
import Testing
import VideoEncoding

@testable import X264Encoding

@Suite("Pictures that are moved")
struct MovedPictureTests {
    @Test(
        "what FFmpeg decodes is what the encoder believes viewers to have, whatever moves, is coded or stays",
        arguments: [(320, 272, false), (170, 262, false), (320, 544, true)])
    func decodesToReconstruction(side: (Int, Int, inStrips: Bool)) throws {
        let scene = PlainCanvas(width: side.0, height: side.1)
        let encoder = try scene.makeEncoder(inStrips: side.inStrips)
        var random = SeededRandom(seed: UInt64(side.0))
        var stream: [UInt8] = []
        var expected: [UInt8] = []
        scene.paint(&random)
        for index in 0..<27 {
            if index % 3 == 0 { scene.paint(&random) }
            let time = MediaTime(ticks: Int64(index) * 3000)
            let qp = 10 + Int(random.next() % 38)
            let picture: EncodedPicture
            if index % 9 == 0 {
                picture = try encoder.encode(
                    scene.planes, scene.all, qp: qp, isRandomAccess: index % 18 == 0, time: time)
            } else {
                var motion = scene.anyMotion(&random, picture: index)
                #expect(encoder.canEncode(motion))
                picture = try encoder.encode(scene.planes, &motion, qp: qp)
            }
            for unit in picture { stream += [0, 0, 0, 1] + unit }
            expected += encoder.reconstructedPicture(width: side.0 + side.0 & 1, height: side.1 + side.1 & 1)
        }
        let folder = try TemporaryFolder()
        let decoded = try FFmpeg.decode(folder.write("moved.264", stream), to: "yuv420p", input: ["-f", "h264"])
        #expect(decoded.messages == "")
        #expect(decoded.bytes.count == expected.count)
        #expect(decoded.bytes == expected)
    }

    @Test("what is coded is near to how it should look, the nearer the finer the quantizer", arguments: [12, 22, 32])
    func codesWell(qp: Int) throws {
        let scene = PlainCanvas(width: 320, height: 272)
        let encoder = try scene.makeEncoder()
        var random = SeededRandom(seed: 9)
        scene.paint(&random)
        _ = try encoder.encode(scene.planes, scene.all, qp: 30, isRandomAccess: true, time: MediaTime(ticks: 0))
        for _ in 0..<4 {
            scene.paint(&random)
            var motion = GlobalMotion(x: 0, y: 7, macroblocks: 20 * 17)
            for index in 0..<20 * 17 { motion.states[index] = GlobalMotion.State.coded.rawValue }
            _ = try encoder.encode(scene.planes, &motion, qp: qp)
        }
        let seen = encoder.reconstructedPicture(width: 320, height: 272)
        var sum = 0.0
        for index in 0..<320 * 272 {
            let difference = Double(seen[index]) - Double(scene.luma[index])
            sum += difference * difference
        }
        // A step of the quantizer is 0.625 * 2^(QP / 6); evenly spread, the error is a twelfth of its square; a
        // coefficient is only rounded up from five sixths of a step on, which makes it more.
        var step = 0.625
        for _ in 0..<qp / 6 { step *= 2 }
        step *= 1 + Double(qp % 6) / 6
        #expect(sum / Double(320 * 272) < step * step / 12 * 2, "\(sum / Double(320 * 272))")
    }

    @Test("a text that scrolls takes a fifth of the bytes, and stays as it was, sample by sample")
    func scrollIsCheap() throws {
        let scene = PlainCanvas(width: 640, height: 368)
        let encoder = try scene.makeEncoder()
        var random = SeededRandom(seed: 4)
        scene.paint(&random)
        let first = try encoder.encode(
            scene.planes, scene.all, qp: 20, isRandomAccess: true, time: MediaTime(ticks: 0))
        let before = encoder.reconstructedPicture(width: 640, height: 368)
        let whole = first.byteCount
        scene.scroll(by: 8, &random)
        var motion = GlobalMotion(x: 0, y: 8, macroblocks: 40 * 23)
        for index in 0..<40 * 23 { motion.states[index] = index < 40 * 22 ? 2 : 1 }
        let picture = try encoder.encode(scene.planes, &motion, qp: 20)
        #expect(picture.byteCount < whole / 5)
        let after = encoder.reconstructedPicture(width: 640, height: 368)
        #expect(Array(after[..<(640 * 352)]) == Array(before[(640 * 8)..<(640 * 360)]))
    }

    @Test("where half samples of chroma blur what is coloured, it says so, and nowhere else")
    func tellsBlur() throws {
        let scene = PlainCanvas(width: 320, height: 272)
        let encoder = try scene.makeEncoder()
        var random = SeededRandom(seed: 8)
        scene.paint(&random)
        scene.fillChroma(rows: 136..<272)
        _ = try encoder.encode(scene.planes, scene.all, qp: 14, isRandomAccess: true, time: MediaTime(ticks: 0))
        var motion = GlobalMotion(x: 0, y: 1, macroblocks: 20 * 17)
        for index in 0..<20 * 16 { motion.states[index] = 2 }
        _ = try encoder.encode(scene.planes, &motion, qp: 44)
        #expect(motion.states[..<(20 * 8)].contains(3))
        #expect(!motion.states[(20 * 9)..<(20 * 16)].contains(3))
    }

    @Test("motion that reaches too far for the level is not made")
    func farMotionIsRefused() throws {
        let scene = PlainCanvas(width: 320, height: 272)
        let encoder = try scene.makeEncoder()
        #expect(!encoder.canEncode(GlobalMotion(x: 0, y: 8, macroblocks: 20 * 17)))
        _ = try encoder.encode(scene.planes, scene.all, qp: 30, isRandomAccess: true, time: MediaTime(ticks: 0))
        #expect(encoder.canEncode(GlobalMotion(x: 0, y: 8, macroblocks: 20 * 17)))
        #expect(!encoder.canEncode(GlobalMotion(x: 0, y: 501, macroblocks: 20 * 17)))
        #expect(!encoder.canEncode(GlobalMotion(x: 0, y: 8, macroblocks: 20 * 16)))
        #expect(!encoder.canEncode(GlobalMotion(x: 0, y: 0, macroblocks: 20 * 17)))
        var motion = GlobalMotion(x: 0, y: 8, macroblocks: 20 * 17)
        motion.second = (0, 13)
        #expect(encoder.canEncode(motion))
        motion.second = (-501, 0)
        #expect(!encoder.canEncode(motion))
    }
}

/// A picture of 4:2:0 whose samples a test changes as it likes.
private final class PlainCanvas {
    let width: Int
    let height: Int
    let columns: Int
    let rows: Int
    let luma: UnsafeMutablePointer<UInt8>
    private let chroma: UnsafeMutablePointer<UInt8>

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        columns = (width + 15) / 16
        rows = (height + 15) / 16
        luma = .allocate(capacity: columns * rows * 256)
        luma.initialize(repeating: 90, count: columns * rows * 256)
        chroma = .allocate(capacity: columns * rows * 128)
        chroma.initialize(repeating: 128, count: columns * rows * 128)
    }

    deinit {
        luma.deallocate()
        chroma.deallocate()
    }

    func makeEncoder(inStrips: Bool = false) throws -> ScreenEncoder {
        var configuration = X264Configuration(
            size: PictureSize(width: width, height: height), framesPerSecond: 30, rate: .qpEachPicture)
        configuration.maxMacroblocksAtOnce = inStrips ? 0 : .max
        return try ScreenEncoder(configuration)
    }

    var planes: SourcePlanes {
        SourcePlanes(
            luma: luma, blueDifference: chroma, redDifference: chroma + columns * rows * 64, lumaStride: columns * 16,
            chromaStride: columns * 8)
    }

    var all: CodingMask {
        .init(isSelected: [UInt8](repeating: 1, count: columns * rows), count: columns * rows, protectsRest: false)
    }

    /// Lines of blocks as high as letters, some of them coloured, with something between them.
    func paint(_ random: inout SeededRandom) {
        for _ in 0..<200 { paintLetter(&random, from: 0) }
    }

    private func paintLetter(_ random: inout SeededRandom, from top: Int) {
        let (width, height) = (Int(random.next() % 9) + 2, Int(random.next() % 12) + 2)
        let x = Int(random.next() % UInt64(columns * 16 - width))
        let y = top + Int(random.next() % UInt64(rows * 16 - height - top))
        let shade = UInt8(random.next() % 220 + 16)
        for row in y..<y + height {
            for column in x..<x + width { luma[row * columns * 16 + column] = shade }
        }
        let (blue, red) = (UInt8(random.next() % 200 + 20), UInt8(random.next() % 200 + 20))
        for row in y / 2..<(y + height) / 2 {
            for column in x / 2..<(x + width) / 2 {
                chroma[row * columns * 8 + column] = blue
                chroma[columns * rows * 64 + row * columns * 8 + column] = red
            }
        }
    }

    /// Makes rows of luma grey.
    func fillChroma(rows range: Range<Int>) {
        for start in [0, columns * rows * 64] {
            for row in range.lowerBound / 2..<range.upperBound / 2 {
                for column in 0..<columns * 8 { chroma[start + row * columns * 8 + column] = 128 }
            }
        }
    }

    /// Moves everything up by `count` rows, an even number, and paints below.
    func scroll(by count: Int, _ random: inout SeededRandom) {
        let stride = columns * 16
        for row in 0..<rows * 16 - count {
            for column in 0..<stride { luma[row * stride + column] = luma[(row + count) * stride + column] }
        }
        for start in [0, columns * rows * 64] {
            for row in 0..<rows * 8 - count / 2 {
                for column in 0..<stride / 2 {
                    chroma[start + row * stride / 2 + column] = chroma[start + (row + count / 2) * stride / 2 + column]
                }
            }
        }
        for _ in 0..<25 { paintLetter(&random, from: rows * 16 - 16) }
    }

    /// Motion somewhere, in which each macroblock may be anything that is possible.
    func anyMotion(_ random: inout SeededRandom, picture: Int) -> GlobalMotion {
        let far = random.next() % 4 == 0 ? 100 : 20
        func part() -> Int { Int(random.next() % UInt64(2 * far + 1)) - far }
        var motion = GlobalMotion(x: random.next() % 3 == 0 ? part() : 0, y: part(), macroblocks: columns * rows)
        if motion.x == 0, motion.y == 0 { motion.y = 6 }
        // Also upwards alone, with coded macroblocks in few rows, as most pictures are that really move: rows are not
        // kept then.
        let isPlain = picture % 2 == 0
        if isPlain { (motion.x, motion.y) = (0, 1 + Int(random.next() % 30)) }
        // Half of the pictures have parts that move differently.
        if random.next() % 2 == 0 {
            motion.second = isPlain ? (0, 1 + Int(random.next() % 30)) : (random.next() % 3 == 0 ? part() : 0, part())
        }
        let codedRows = [Int(random.next() % UInt64(rows)), rows - 1 - Int(random.next() % 2)]
        // Mostly runs, too.
        var state = GlobalMotion.State.still
        for row in 0..<rows {
            for column in 0..<columns {
                if random.next() % 4 == 0 { state = GlobalMotion.State(rawValue: UInt8(random.next() % 3)) ?? .still }
                func fits(_ x: Int, _ y: Int) -> Bool {
                    let (left, top) = (column * 16 + x, row * 16 + y)
                    return left >= 0 && top >= 0 && left + 16 <= columns * 16 && top + 16 <= rows * 16
                }
                let isInside = fits(motion.x, motion.y)
                var own = state == .moved && !isInside ? .coded : state
                if isPlain, own == .coded, !codedRows.contains(row) { own = isInside ? .moved : .still }
                if own == .moved, let second = motion.second, column > columns / 2, fits(second.x, second.y) {
                    own = .movedApart
                }
                motion.states[row * columns + column] = own.rawValue
            }
        }
        return motion
    }
}
