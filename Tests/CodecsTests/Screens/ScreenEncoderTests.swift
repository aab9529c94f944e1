import Glibc
import H264
import MediaTypes
import TestSupport
import Testing
import VideoEncoding

@testable import X264Encoding

@Suite("An encoder for screens")
struct ScreenEncoderTests {
    @Test(
        "what FFmpeg decodes is what the encoder believes viewers to have, picture by picture",
        arguments: [
            (320, 272, false), (336, 262, false), (170, 300, false), (640, 368, false), (320, 544, true),
            // 66 rows of macroblocks: strips of 17 and 16.
            (170, 1048, true),
        ], ChromaFormat.allCases)
    func decodesToReconstruction(side: (Int, Int, inStrips: Bool), chroma: ChromaFormat) throws {
        let folder = try TemporaryFolder()
        let canvas = TestCanvas(width: side.0, height: side.1, chroma: chroma, seed: 7)
        let encoder = try makeEncoder(canvas, inStrips: side.inStrips)
        var random = SeededRandom(seed: UInt64(side.0))
        var stream: [UInt8] = []
        var expected: [UInt8] = []
        var kinds = Set<String>()
        var slices = 0
        for index in 0..<80 {
            // Two key frames in a row as well.
            let isIDR = index == 0 || index == 50 || index == 51
            let count = random.next() % 4 == 0 ? 0 : Int(random.next() % 3 == 0 ? 9 : 1)
            var mask = canvas.change(count, &random)
            mask.protectsRest = random.next() % 2 == 0
            mask.prefersBands = random.next() % 2 == 0
            // Where the whole is coded, coarser macroblocks of the rest would be coded with it.
            let qp = encoder.usesBands(mask) ? 14 + Int(random.next() % 20) : 34
            kinds.insert(encoder.usesBands(mask) ? mask.count == 0 ? "skipped" : "bands" : "whole")
            let picture = try encoder.encode(
                canvas.planes, mask, qp: qp, isRandomAccess: isIDR,
                time: MediaTime(ticks: Int64(index) * 3000)
            )
            #expect(picture.isRandomAccess == isIDR)
            slices = isIDR ? picture.count { $0.nalUnitType == .idrSlice } : slices
            for unit in picture { stream += [0, 0, 0, 1] + unit }
            expected += encoder.reconstructedPicture(width: canvas.evenWidth, height: canvas.evenHeight)
        }
        #expect(kinds == ["bands", "whole", "skipped"])
        #expect(slices == (side.inStrips ? side.1 / 262 : 1))
        let path = try folder.write("screen.264", stream)
        let decoded = try FFmpeg.decode(
            path, to: chroma == .yuv420 ? "yuv420p" : "yuv444p", input: ["-f", "h264"])
        #expect(decoded.messages == "")
        #expect(decoded.bytes.count == expected.count)
        #expect(decoded.bytes == expected)
    }

    @Test("a macroblock that is not selected keeps every sample, however coarse it is and however fine the picture")
    func restIsKept() throws {
        let canvas = TestCanvas(width: 320, height: 272, chroma: .yuv420, seed: 3)
        let encoder = try makeEncoder(canvas)
        var random = SeededRandom(seed: 5)
        _ = try encoder.encode(
            canvas.planes, canvas.all, qp: 40, isRandomAccess: true, time: MediaTime(ticks: 0))
        for index in 1..<30 {
            var mask = canvas.change(1, &random)
            mask.protectsRest = true
            let before = encoder.reconstructedPicture(width: 320, height: 272)
            _ = try encoder.encode(
                canvas.planes, mask, qp: 12, isRandomAccess: false,
                time: MediaTime(ticks: Int64(index) * 3000))
            let after = encoder.reconstructedPicture(width: 320, height: 272)
            var changed = 0
            for y in 0..<272 {
                for x in 0..<320 where mask.isSelected[y / 16 * 20 + x / 16] == 0 {
                    if before[y * 320 + x] != after[y * 320 + x] { changed += 1 }
                }
            }
            #expect(changed == 0)
        }
    }

    @Test(
        "what FFmpeg decodes after returns to kept pictures is what the encoder believes viewers to have",
        arguments: [(320, 272, false), (640, 368, false), (1280, 720, false), (1920, 1080, false), (320, 544, true)])
    func returns(side: (Int, Int, inStrips: Bool)) throws {
        let canvas = TestCanvas(width: side.0, height: side.1, chroma: .yuv420, seed: 9)
        let encoder = try makeEncoder(canvas, inStrips: side.inStrips)
        let places = encoder.keptPictures
        #expect(places == (side.0 < 1920 ? 3 : 1))
        var random = SeededRandom(seed: UInt64(side.0))
        var stream: [UInt8] = []
        var expected: [UInt8] = []
        // What the places hold: the samples that viewers see, and the canvas.
        var kept = [[UInt8]?](repeating: nil, count: places)
        var last: [UInt8] = []
        for index in 0..<40 {
            let isIDR = index == 0 || index == 25
            var mask = canvas.change(random.next() % 4 == 0 ? 9 : 1, &random)
            mask.protectsRest = true
            var recalled: Int?
            if isIDR {
                kept = Array(repeating: nil, count: places)
            } else if index % 3 != 2 {
                recalled = kept.indices.filter { kept[$0] != nil }.randomElement(using: &random)
                let place = random.next() % 3 == 0 ? nil : Int(random.next() % UInt64(places))
                if recalled != nil, index % 2 == 0 { mask = canvas.none }
                try encoder.switchReference(keeping: place, recalling: recalled)
                let samples = recalled.flatMap { kept[$0] }
                if let place { kept[place] = last }
                if let samples { last = samples }
            }
            let picture = try encoder.encode(
                canvas.planes, mask, qp: encoder.usesBands(mask) ? 20 : 34, isRandomAccess: isIDR,
                time: MediaTime(ticks: Int64(index) * 3000))
            for unit in picture { stream += [0, 0, 0, 1] + unit }
            let seen = encoder.reconstructedPicture(width: canvas.evenWidth, height: canvas.evenHeight)
            if mask.count == 0 { #expect(seen == last, "picture \(index)") }
            last = seen
            expected += seen
        }
        let folder = try TemporaryFolder()
        let decoded = try FFmpeg.decode(folder.write("returns.264", stream), to: "yuv420p", input: ["-f", "h264"])
        #expect(decoded.messages == "")
        #expect(decoded.bytes == expected)
        #expect(throws: VideoEncodingError.self) { try encoder.switchReference(keeping: nil, recalling: places) }
    }

    @Test("a coarser quantizer saves bytes, up to the coarsest")
    func highestQPs() throws {
        let canvas = TestCanvas(width: 320, height: 272, chroma: .yuv420, seed: 11)
        let encoder = try makeEncoder(canvas)
        var sizes: [Int] = []
        for (index, qp) in [4, 10, 20, 30, 40, 43, 46, 49, 51].enumerated() {
            let picture = try encoder.encode(
                canvas.planes, canvas.all, qp: qp, isRandomAccess: true,
                time: MediaTime(ticks: Int64(index) * 3000))
            sizes.append(picture.byteCount)
        }
        #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 > $1 }, "\(sizes)")
    }

    @Test("a picture in which nothing changed takes a few bytes")
    func skippedPictureIsSmall() throws {
        let canvas = TestCanvas(width: 640, height: 368, chroma: .yuv420, seed: 1)
        let encoder = try makeEncoder(canvas)
        _ = try encoder.encode(
            canvas.planes, canvas.all, qp: 30, isRandomAccess: true, time: MediaTime(ticks: 0))
        let picture = try encoder.encode(
            canvas.planes, canvas.none, qp: 20, isRandomAccess: false, time: MediaTime(ticks: 3000))
        #expect(picture.count == 1)
        #expect(picture.byteCount < 12)
    }

    @Test("what is selected looks as it should after one picture, also where black and white change places")
    func selectedIsCoded() throws {
        let canvas = TestCanvas(width: 640, height: 482, chroma: .yuv420, seed: 1)
        let encoder = try makeEncoder(canvas)
        var stream: [UInt8] = []
        var last: [UInt8] = []
        for index in 0..<60 {
            var mask = index == 0 ? canvas.all : canvas.paintBars(index)
            mask.prefersBands = true
            let picture = try encoder.encode(
                canvas.planes, mask, qp: 14, isRandomAccess: index == 0,
                time: MediaTime(ticks: Int64(index) * 3000))
            for unit in picture { stream += [0, 0, 0, 1] + unit }
            last = encoder.reconstructedPicture(width: 640, height: 482)
            let seen = encoder.reconstructedPicture(width: 640, height: 482)
            var worst = 0
            for y in 0..<482 {
                for x in 0..<640 where mask.isSelected[y / 16 * 40 + x / 16] == 1 {
                    worst = max(worst, abs(Int(seen[y * 640 + x]) - Int(canvas.sample(x, y))))
                }
            }
            #expect(worst < 24, "picture \(index)")
        }
        let folder = try TemporaryFolder()
        let decoded = try FFmpeg.decode(
            folder.write("bars.264", stream), to: "yuv420p", input: ["-f", "h264"])
        #expect(decoded.messages == "")
        #expect(Array(decoded.bytes.suffix(last.count)) == last)
    }

    @Test("strips are as high as each other where that goes, and else differ by one row")
    func stripHeights() {
        #expect(StripEncoder.heights(rows: 135) == Array(repeating: 15, count: 9))
        #expect(StripEncoder.heights(rows: 90) == Array(repeating: 18, count: 5))
        #expect(StripEncoder.heights(rows: 113) == [17, 16, 16, 16, 16, 16, 16])
        for rows in 2...1024 {
            let heights = StripEncoder.heights(rows: rows)
            #expect(heights.reduce(0, +) == rows && (heights.max() ?? 0) - (heights.min() ?? 0) <= 1)
            #expect(heights.allSatisfy { 2..<32 ~= $0 })
        }
    }

    private func makeEncoder(_ canvas: TestCanvas, inStrips: Bool = false) throws -> ScreenEncoder {
        var configuration = X264Configuration(
            size: PictureSize(width: canvas.width, height: canvas.height), framesPerSecond: 30,
            rate: .qpEachPicture, chroma: canvas.chroma)
        configuration.maxMacroblocksAtOnce = inStrips ? 0 : .max
        return try ScreenEncoder(configuration)
    }
}
