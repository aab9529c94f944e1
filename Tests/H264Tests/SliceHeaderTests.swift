import H264
import TestSupport
import Testing

@Suite("Slice headers and the first slice of a picture")
struct SliceHeaderTests {
    private func sets(_ nalUnits: [UInt8]...) throws -> ParameterSets {
        var sets = ParameterSets()
        for nalUnit in nalUnits { try sets.insert(nalUnit[...]) }
        return sets
    }

    @Test("each single-slice picture is the first of a new picture")
    func singleSlices() throws {
        let sets = try sets(Samples.baselineSPS, Samples.baselinePPS)
        let slices = try ([Samples.baselineIDR] + Samples.baselineP).map {
            try SliceHeader(nalUnit: $0[...], parameterSets: sets)
        }
        #expect(slices[0].isIDR)
        #expect(slices.map(\.frameNumber) == [0, 1, 2, 3])
        #expect(slices.allSatisfy { $0.firstMacroblock == 0 && !$0.isField })
        for (previous, next) in zip(slices, slices.dropFirst()) {
            #expect(isFirstOfNewPicture(previous: previous, next: next))
            #expect(!isFirstOfNewPicture(previous: next, next: next))
        }
    }

    @Test("the second slice of a picture is not the first of a new one")
    func secondSlices() throws {
        let sets = try sets(Samples.interlacedSPS, Samples.interlacedPPS)
        let slices = try Samples.interlacedSlices.map { try SliceHeader(nalUnit: $0[...], parameterSets: sets) }
        #expect(slices[0].firstMacroblock == 0)
        #expect(slices[1].firstMacroblock > 0)
        #expect(!isFirstOfNewPicture(previous: slices[0], next: slices[1]))
        #expect(isFirstOfNewPicture(previous: slices[1], next: slices[2]))
        #expect(!isFirstOfNewPicture(previous: slices[2], next: slices[3]))
    }

    @Test("a change between reference and non-reference parts pictures, another reference value does not")
    func referenceIDC() throws {
        let sets = try sets(Samples.baselineSPS, Samples.baselinePPS)
        func slice(_ header: UInt8) throws -> SliceHeader {
            try SliceHeader(nalUnit: ([header] + Samples.baselineP[0].dropFirst())[...], parameterSets: sets)
        }
        #expect(try !isFirstOfNewPicture(previous: slice(0x41), next: slice(0x61)))
        #expect(try isFirstOfNewPicture(previous: slice(0x41), next: slice(0x01)))
    }

    @Test("a slice without its parameter sets is an error that names them")
    func missingSets() throws {
        #expect(throws: H264Error.missingParameterSet(kind: .pictureParameterSet, id: 0)) {
            try SliceHeader(nalUnit: Samples.baselineIDR[...], parameterSets: ParameterSets())
        }
        let onlyPicture = try sets(Samples.baselinePPS)
        #expect(throws: H264Error.missingParameterSet(kind: .sequenceParameterSet, id: 0)) {
            try SliceHeader(nalUnit: Samples.baselineIDR[...], parameterSets: onlyPicture)
        }
        #expect(throws: H264Error.unexpectedType(.sequenceParameterSet)) {
            try SliceHeader(nalUnit: Samples.baselineSPS[...], parameterSets: ParameterSets())
        }
    }

    @Test("no prefix and no mutation of a slice brings anything down")
    func robustness() throws {
        let sets = try sets(Samples.interlacedSPS, Samples.interlacedPPS)
        var random = SeededRandom(seed: 4)
        for sample in Samples.interlacedSlices {
            for end in 0..<sample.count { _ = try? SliceHeader(nalUnit: sample[..<end], parameterSets: sets) }
            for _ in 0..<1_000 {
                _ = try? SliceHeader(nalUnit: random.mutation(of: sample)[...], parameterSets: sets)
            }
        }
    }
}
