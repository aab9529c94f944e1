import H264
import TestSupport
import Testing

@Suite("Annex B")
struct AnnexBTests {
    private func split(_ bytes: [UInt8]) -> [[UInt8]] { AnnexB.nalUnits(in: bytes).map { Array(bytes[$0]) } }

    @Test("start codes of three and four bytes part NAL units, and zeros behind them belong to none")
    func startCodes() {
        #expect(split([0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0x65]) == [[0x67, 1], [0x68, 2], [0x65]])
        #expect(split([0, 0, 1, 0x41, 7, 0, 0, 0, 0, 0, 1, 0x41, 8, 0, 0, 0]) == [[0x41, 7], [0x41, 8]])
    }

    @Test("what stands before the first start code, and empty NAL units, are passed over")
    func nothing() {
        #expect(split([]).isEmpty)
        #expect(split([1, 2, 3]).isEmpty)
        #expect(split([0, 0, 1]).isEmpty)
        #expect(split([9, 9, 0, 0, 1, 0x65, 0, 0, 1, 0, 0, 1]) == [[0x65]])
    }

    @Test("the fast search finds what a search at every byte finds")
    func fastSearch() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0..<60, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random)
            }
            var starts: [Int] = []
            var index = 0
            while index + 2 < bytes.count {
                if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 { starts.append(index) }
                index += 1
            }
            let expected = starts.enumerated().compactMap { number, start -> [UInt8]? in
                let end = number + 1 < starts.count ? starts[number + 1] : bytes.count
                var unit = Array(bytes[(start + 3)..<end])
                while unit.last == 0 { unit.removeLast() }
                return unit.isEmpty ? nil : unit
            }
            #expect(split(bytes) == expected)
        }
    }

    @Test("a slice is split in its own indices")
    func slices() {
        let bytes: [UInt8] = [0, 0, 1, 5, 0, 0, 1, 6, 0, 0, 1, 7]
        #expect(AnnexB.nalUnits(in: bytes[4..<8]) == [7..<8])
    }

    @Test("emulation prevention taken out and put in again gives the same bytes, and no start code within")
    func emulationPrevention() {
        #expect(EmulationPrevention.removed(from: [0, 0, 3, 1, 0, 0, 3]) == [0, 0, 1, 0, 0])
        #expect(EmulationPrevention.removed(from: [0, 0, 3, 0, 0, 3, 3]) == [0, 0, 0, 0, 3])
        #expect(EmulationPrevention.added(to: [0, 0, 0, 0, 0, 1]) == [0, 0, 3, 0, 0, 3, 0, 1])
        #expect(EmulationPrevention.removed(from: [1, 2, 3, 4], limit: 2) == [1, 2])
        #expect(EmulationPrevention.removed(from: [1, 2], limit: -1) == [])
        var random = SeededRandom(seed: 2)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: 0...4, using: &random)
            }
            let added = EmulationPrevention.added(to: bytes)
            #expect(EmulationPrevention.removed(from: added[...]) == bytes)
            #expect(AnnexB.nalUnits(in: added + [9]).isEmpty)
        }
    }
}
