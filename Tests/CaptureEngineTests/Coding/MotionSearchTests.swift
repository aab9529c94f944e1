import MediaTypes
import TestSupport
import Testing
import VideoEncoding

@testable import CaptureEngine

@Suite("Motion search")
struct MotionSearchTests {
    private static let columns = 30
    private static let rows = 20
    fileprivate static let whole = PixelRectangle(x: 0, y: 0, width: columns * 16, height: rows * 16)
    fileprivate static let allSelected = [UInt8](repeating: 1, count: columns * rows)

    @Test(
        "finds what moved by, upwards, downwards, to a side, or across",
        arguments: [(0, 8), (0, -5), (0, 61), (12, 0), (-33, 0), (9, -14), (-20, 40), (1, 1)])
    func moved(x: Int, y: Int) throws {
        let before = Page(seed: 5)
        let after = before.moved(x: x, y: y, seed: 6)
        var search = MotionSearch(columns: Self.columns, rows: Self.rows, reach: 500)
        let motion = search.find(in: after, from: before)
        #expect(motion.x == x && motion.y == y && motion.second == nil)
        #expect(motion.movedCount + motion.codedCount <= Self.columns * Self.rows)
        for row in 0..<Self.rows {
            for column in 0..<Self.columns {
                let state = motion.states[row * Self.columns + column]
                let isMoved = after.isSame(column, row, as: before, x: x, y: y)
                #expect((state == 2) == isMoved, "\(column), \(row)")
                if state == 0 { #expect(after.isSame(column, row, as: before, x: 0, y: 0)) }
            }
        }
    }

    @Test(
        "finds both offsets of columns that scroll differently, and what each column has moved by",
        arguments: [(14, 26), (8, -40), (0, 21), (33, 7)])
    func columns(left: Int, right: Int) throws {
        let before = Page(seed: 5)
        let after = before.scrolled(left: left, right: right, seed: 6)
        var search = MotionSearch(columns: Self.columns, rows: Self.rows, reach: 500)
        let motion = search.find(in: after, from: before)
        let offsets = [motion.y, motion.second?.y ?? 0]
        #expect(motion.x == 0 && Set(offsets) == Set([left, right]))
        var (moved, coded) = (0, 0)
        for row in 0..<Self.rows {
            for column in 0..<Self.columns {
                switch motion.states[row * Self.columns + column] {
                case 0: #expect(after.isSame(column, row, as: before, x: 0, y: 0))
                case 2: #expect(after.isSame(column, row, as: before, x: 0, y: offsets[0]))
                case 4: #expect(after.isSame(column, row, as: before, x: 0, y: offsets[1]))
                case let state:
                    #expect(state == 1)
                    coded += 1
                }
                moved += motion.states[row * Self.columns + column] >= 2 ? 1 : 0
            }
        }
        // All but the lines that have come into view.
        let rows = [left, right].map { $0 == 0 ? 0 : Self.rows - (abs($0) + 15) / 16 }
        #expect(moved == motion.movedCount && coded == motion.codedCount)
        #expect(coded <= (2 * Self.rows - rows[0] - rows[1]) * Self.columns / 2)
    }

    @Test("moving is left alone if it is not expected to save bytes, which counts what changed and not what stayed")
    func saves() {
        let before = Page(seed: 5)
        let after = before.scrolled(left: 0, right: 100, seed: 6)
        for answer in [true, false] {
            var search = MotionSearch(columns: Self.columns, rows: Self.rows, reach: 500)
            var asked: [(left: Int, changed: Int)] = []
            let motion = search.find(
                in: after.planes, from: before.planes, area: Self.whole, selection: Self.allSelected
            ) {
                asked.append(($0, $1))
                return answer
            }
            #expect(asked.count == 1)
            // Of the right column, 100 of 320 lines have come into view, and the left one stayed.
            #expect(asked.allSatisfy { (90...105).contains($0.left) && (290...300).contains($0.changed) })
            #expect((motion.movedCount > 0) == answer)
            #expect(motion.codedCount == asked.map { answer ? $0.left : $0.changed }.first)
        }
    }

    @Test("FFmpeg decodes columns that scroll differently to what was painted, for few bytes")
    func decodes() throws {
        let encoder = try TrackFormat.Codec.h264.makeEncoder(
            size: PictureSize(width: Self.columns * 16, height: Self.rows * 16), chroma: .yuv420,
            framesPerSecond: 30, onWarning: { Issue.record("\($0)") })
        var search = MotionSearch(columns: Self.columns, rows: Self.rows, reach: encoder.maxVector)
        let all = CodingMask(isSelected: Self.allSelected, count: Self.allSelected.count, protectsRest: false)
        var page = Page(seed: 5)
        var (stream, painted): ([UInt8], [[UInt8]]) = ([], [])
        var (first, others) = (0, 0)
        for number in 0..<8 {
            let time = MediaTime(ticks: Int64(number) * 3000)
            let encoded: EncodedPicture
            if number == 0 {
                encoded = try encoder.encode(page.planes, all, qp: 18, isRandomAccess: true, time: time)
                first = encoded.byteCount
            } else {
                let next = page.scrolled(
                    left: 6 + 7 * number, right: number % 2 == 0 ? -13 : 26, seed: UInt64(100 + number))
                var motion = search.find(in: next, from: page)
                #expect(motion.second != nil && encoder.canEncode(motion))
                encoded = try encoder.encode(next.planes, &motion, qp: 18)
                others += encoded.byteCount
                page = next
            }
            for unit in encoded { stream += [0, 0, 0, 1] + unit }
            painted.append(Array(UnsafeBufferPointer(start: page.luma, count: Self.columns * Self.rows * 256)))
        }
        let folder = try TemporaryFolder()
        let decoded = try FFmpeg.decode(folder.write("columns.264", stream), to: "yuv420p", input: ["-f", "h264"])
        #expect(decoded.messages == "")
        let size = Self.columns * Self.rows * 384
        #expect(decoded.bytes.count == painted.count * size)
        for (number, luma) in painted.enumerated() {
            var sum = 0
            for (seen, wanted) in zip(decoded.bytes.dropFirst(number * size), luma) {
                sum += (Int(seen) - Int(wanted)) * (Int(seen) - Int(wanted))
            }
            // 40 dB.
            #expect(Double(sum) / Double(luma.count) < 6.5, "picture \(number)")
        }
        #expect(others < 7 * first / 3, "\(first), then \(others)")
    }

    @Test("what is not selected is left alone, and what changed in another way is to be coded")
    func others() throws {
        let before = Page(seed: 5)
        let after = before.moved(x: 0, y: 16, seed: 6)
        // A button that changed meanwhile, and chroma that changed alone.
        after.luma[100 * Self.columns * 16 + 100] ^= 1
        after.chroma[70 * Self.columns * 8 + 150] ^= 1
        var selection = Self.allSelected
        selection[0] = 0
        var search = MotionSearch(columns: Self.columns, rows: Self.rows, reach: 500)
        let motion = search.find(in: after, from: before, selection: selection)
        #expect(motion.states[0] == 0)
        #expect(motion.states[100 / 16 * Self.columns + 100 / 16] == 1)
        #expect(motion.states[140 / 16 * Self.columns + 300 / 16] == 1)
        #expect(motion.states[5 * Self.columns + 3] == 2)
    }

    @Test("where nothing moved only what is unchanged is found, also while the search is made less often")
    func nothing() {
        let before = Page(seed: 1)
        let after = Page(seed: 2)
        // One macroblock stays.
        for row in 0..<16 {
            for column in 0..<16 {
                after.luma[row * Self.columns * 16 + column] = before.luma[row * Self.columns * 16 + column]
            }
        }
        for start in [0, Self.columns * Self.rows * 64] {
            for row in 0..<8 {
                for column in 0..<8 {
                    let index = start + row * Self.columns * 8 + column
                    after.chroma[index] = before.chroma[index]
                }
            }
        }
        var search = MotionSearch(columns: Self.columns, rows: Self.rows, reach: 500)
        for _ in 0..<90 {
            let motion = search.find(in: after, from: before)
            #expect(motion.movedCount == 0 && motion.x == 0 && motion.y == 0)
            #expect(motion.states[0] == 0 && motion.codedCount == Self.columns * Self.rows - 1)
        }
        // Something moves now, elsewhere.
        let moved = before.moved(x: 0, y: 16, seed: 6)
        let area = PixelRectangle(x: 0, y: 0, width: 200, height: 200)
        let motion = search.find(in: moved, from: before, area: area)
        #expect(motion.movedCount > 0 && motion.y == 16)
    }

    @Test("plain ground, areas at and beyond the edges, and empty ones are borne")
    func edges() {
        let blank = Page(seed: nil)
        let page = Page(seed: 3)
        var search = MotionSearch(columns: Self.columns, rows: Self.rows, reach: 500)
        for area in [
            Self.whole, PixelRectangle(x: 470, y: 310, width: 10, height: 10),
            PixelRectangle(x: 460, y: 0, width: 900, height: 900), PixelRectangle(x: 0, y: 0, width: 0, height: 0),
        ] {
            for (a, b) in [(blank, blank), (page, page), (blank, page), (page, blank)] {
                let motion = search.find(in: a, from: b, area: area)
                #expect(motion.movedCount == 0)
            }
        }
    }

    /// A picture of letters.
    fileprivate final class Page {
        let luma: UnsafeMutablePointer<UInt8>
        let chroma: UnsafeMutablePointer<UInt8>
        private let width = columns * 16
        private let height = rows * 16

        init(seed: UInt64?) {
            luma = .allocate(capacity: width * height)
            luma.initialize(repeating: 235, count: width * height)
            chroma = .allocate(capacity: width * height / 2)
            chroma.initialize(repeating: 128, count: width * height / 2)
            guard let seed else { return }
            var random = SeededRandom(seed: seed)
            for _ in 0..<2_500 {
                let (x, y) = (Int(random.next() % UInt64(width - 6)), Int(random.next() % UInt64(height - 9)))
                let shade = UInt8(random.next() % 120 + 16)
                for row in y..<y + 9 { for column in x..<x + 2 { luma[row * width + column] = shade } }
                for column in x..<x + 6 { luma[(y + 4) * width + column] = shade }
                chroma[y / 2 * width / 2 + x / 2] = UInt8(random.next() % 200 + 20)
            }
        }

        deinit {
            luma.deallocate()
            chroma.deallocate()
        }

        var planes: SourcePlanes {
            SourcePlanes(
                luma: luma, blueDifference: chroma, redDifference: chroma + width * height / 4, lumaStride: width,
                chromaStride: width / 2)
        }

        /// What stood at `x`, `y` from each place; from beyond the edges another page comes in.
        func moved(x: Int, y: Int, seed: UInt64) -> Page {
            let page = Page(seed: seed)
            for row in 0..<height where (0..<height).contains(row + y) {
                for column in 0..<width where (0..<width).contains(column + x) {
                    page.luma[row * width + column] = luma[(row + y) * width + column + x]
                }
            }
            for start in [0, width * height / 4] {
                for row in 0..<height / 2 where (0..<height / 2).contains(row + y / 2) {
                    for column in 0..<width / 2 where (0..<width / 2).contains(column + x / 2) {
                        page.chroma[start + row * width / 2 + column] =
                            chroma[start + (row + y / 2) * width / 2 + column + x / 2]
                    }
                }
            }
            return page
        }

        /// The left half moved up by `left` lines and the right one by `right`.
        func scrolled(left: Int, right: Int, seed: UInt64) -> Page {
            let (page, other) = (moved(x: 0, y: left, seed: seed), moved(x: 0, y: right, seed: seed))
            for row in 0..<height {
                let start = row * width + width / 2
                (page.luma + start).update(from: other.luma + start, count: width / 2)
                // Each row of chroma, of which both planes have half as many.
                let half = row * width / 2 + width / 4
                (page.chroma + half).update(from: other.chroma + half, count: width / 4)
            }
            return page
        }

        func isSame(_ column: Int, _ row: Int, as other: Page, x: Int, y: Int) -> Bool {
            let (left, top) = (column * 16 + x, row * 16 + y)
            guard left >= 0, top >= 0, left + 16 <= width, top + 16 <= height else { return false }
            for line in 0..<16 {
                for index in 0..<16
                where luma[(row * 16 + line) * width + column * 16 + index]
                    != other.luma[(top + line) * width + left + index]
                {
                    return false
                }
            }
            if x & 1 != 0 || y & 1 != 0 { return true }
            for start in [0, width * height / 4] {
                for line in 0..<8 {
                    for index in 0..<8
                    where chroma[start + (row * 8 + line) * width / 2 + column * 8 + index]
                        != other.chroma[start + (top / 2 + line) * width / 2 + left / 2 + index]
                    {
                        return false
                    }
                }
            }
            return true
        }
    }
}

extension MotionSearch {
    /// Finds motion that counts if it leaves less to code than it moves.
    fileprivate mutating func find(
        in current: MotionSearchTests.Page, from previous: MotionSearchTests.Page,
        area: PixelRectangle = MotionSearchTests.whole, selection: [UInt8] = MotionSearchTests.allSelected
    ) -> GlobalMotion {
        find(in: current.planes, from: previous.planes, area: area, selection: selection) { $0 * 2 <= $1 }
    }
}
