import TestSupport
import Testing
import VideoEncoding

@testable import X264Encoding

@Suite("Bands or the whole")
struct BandChoiceTests {
    /// Codes pictures that cost so many bytes a macroblock either way, and gives how many were made of bands.
    private func bands(of pictures: Int, whole: Double, bands: Double, _ choice: inout BandChoice) -> Int {
        (0..<pictures).count { _ in
            let usesBands = choice.usesBands
            choice.coded(macroblocks: 1000, byteCount: Int((usesBands ? bands : whole) * 1000))
            return usesBands
        }
    }

    @Test("a film, which costs as much in bands, is made of bands within two seconds")
    func film() {
        var choice = BandChoice()
        _ = bands(of: 60, whole: 9, bands: 9.2, &choice)
        #expect(choice.prefersBands)
        #expect(bands(of: 300, whole: 9, bands: 9.2, &choice) > 280)
    }

    @Test("a text in motion, which is predicted well, isn't even tried in bands")
    func text() {
        var choice = BandChoice()
        #expect(bands(of: 1000, whole: 2.4, bands: 6, &choice) == 0)
    }

    @Test("a trial that costs far more is given up at once, and is seldom")
    func hopeless() {
        var choice = BandChoice()
        #expect(bands(of: 1000, whole: 6.5, bands: 19, &choice) < 40)
        #expect(!choice.prefersBands)
    }

    @Test("where bands turn dear, the whole is found again")
    func turned() {
        var choice = BandChoice()
        _ = bands(of: 100, whole: 9, bands: 9, &choice)
        #expect(choice.prefersBands)
        _ = bands(of: 1500, whole: 6.5, bands: 19, &choice)
        #expect(!choice.prefersBands)
    }

    @Test("bands cover every row that is selected, never overlap and stay inside", arguments: 8...70)
    func placement(rows: Int) {
        for pattern in 1..<64 {
            var placement = BandPlacement(height: 8)
            let isSelected = { (row: Int) in pattern >> (row % 6) & 1 == 1 && row % 13 > 4 }
            guard placement.cover(rows: rows, isSelected: isSelected) else { continue }
            #expect(zip(placement.starts, placement.starts.dropFirst()).allSatisfy { $0 + 8 <= $1 })
            #expect(placement.starts.allSatisfy { $0 >= 0 && $0 + 8 <= rows })
            let covered = Set(placement.starts.flatMap { $0..<$0 + 8 })
            #expect((0..<rows).allSatisfy { !isSelected($0) || covered.contains($0) })
        }
    }

    @Test("motion is searched near in a film with grain and in a coarse one; one expensive picture changes nothing")
    func searchRange() {
        var range = SearchRange()
        func coded(_ pictures: Int, _ byteCount: Int, _ qp: Int = 24) -> Int {
            for _ in 0..<pictures { range.coded(macroblocks: 8000, byteCount: byteCount, qp: qp) }
            return range.samples
        }
        #expect(coded(100, 60_000) == SearchRange.near)
        #expect(coded(100, 8_000) == SearchRange.far)
        #expect(coded(1, 300_000) == SearchRange.far)
        #expect(coded(100, 17_000, 46) == SearchRange.near)
    }

    @Test("letters are text, on part of the picture too; noise and slopes are a film, and so is what is not selected")
    func textOrFilm() {
        let (columns, rows) = (20, 12)
        let luma = UnsafeMutablePointer<UInt8>.allocate(capacity: columns * rows * 256)
        defer { luma.deallocate() }
        var random = SeededRandom(seed: 3)
        func isText(isSelected: (Int) -> Bool = { _ in true }, _ sample: (Int, Int) -> UInt8) -> Bool {
            for y in 0..<rows * 16 { for x in 0..<columns * 16 { luma[y * columns * 16 + x] = sample(x, y) } }
            let planes = SourcePlanes(
                luma: luma, blueDifference: luma, redDifference: luma, lumaStride: columns * 16,
                chromaStride: columns * 8)
            let flags = (0..<columns * rows).map { isSelected($0) ? UInt8(1) : 0 }
            return SearchRange.isText(planes, flags, columns: columns, rows: rows)
        }
        // Strokes of letters, in lines of 13 pixels.
        func letters(_ x: Int, _ y: Int) -> UInt8 { y % 13 < 9 && x % 6 == 0 ? 30 : 235 }
        func half(_ x: Int, _ y: Int) -> UInt8 { x < 160 ? letters(x, y) : 90 }
        #expect(isText(letters))
        #expect(!isText { x, _ in UInt8(truncatingIfNeeded: x / 2) })
        #expect(!isText { _, _ in UInt8(100 + random.next() % 30) })
        #expect(!isText { _, _ in 80 })
        #expect(isText(half))
        #expect(!isText(isSelected: { $0 % columns >= 10 }, half))
    }
}
