import Testing

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

    @Test("bands cover every row that is active, never overlap and stay inside", arguments: 8...70)
    func placement(rows: Int) {
        for pattern in 1..<64 {
            var placement = BandPlacement(height: 8)
            let isActive = { (row: Int) in pattern >> (row % 6) & 1 == 1 && row % 13 > 4 }
            guard placement.cover(rows: rows, isActive: isActive) else { continue }
            #expect(zip(placement.starts, placement.starts.dropFirst()).allSatisfy { $0 + 8 <= $1 })
            #expect(placement.starts.allSatisfy { $0 >= 0 && $0 + 8 <= rows })
            let covered = Set(placement.starts.flatMap { $0..<$0 + 8 })
            #expect((0..<rows).allSatisfy { !isActive($0) || covered.contains($0) })
        }
    }

    @Test("motion is searched near in a film, a coarse one too, and far in a text; a page that turns changes nothing")
    func searchRange() {
        var range = SearchRange()
        func changes(_ pictures: Int, _ byteCount: Int, _ quantizer: Int = 24) -> Int {
            (0..<pictures).count { _ in
                range.coded(macroblocks: 8000, byteCount: byteCount, quantizer: quantizer)
            }
        }
        #expect(changes(100, 60_000) == 1)
        #expect(range.samples == SearchRange.near)
        #expect(changes(100, 8_000) == 1)
        #expect(range.samples == SearchRange.far)
        #expect(changes(1, 300_000) == 0)
        #expect(range.samples == SearchRange.far)
        #expect(changes(100, 17_000, 46) == 1)
        #expect(range.samples == SearchRange.near)
    }
}
