import H264
import MediaTypes
import TestSupport
import Testing

@Suite("Whole slice headers and order counts")
struct CodedSliceTests {
    private static func sets(_ units: [[UInt8]]) throws -> ParameterSets {
        var sets = ParameterSets()
        for unit in units { try sets.insert(unit[...]) }
        return sets
    }

    @Test("a slice tells its kind and its quantizer")
    func qp() throws {
        let sets = try Self.sets([Samples.baselineSPS, Samples.baselinePPS])
        let idr = try CodedSlice(nalUnit: Samples.baselineIDR[...], parameterSets: sets)
        #expect(idr.header.kind == .i)
        #expect((0...51).contains(idr.qp))
        #expect(!idr.clearsReferences)
        for slice in Samples.baselineP {
            let coded = try CodedSlice(nalUnit: slice[...], parameterSets: sets)
            #expect(coded.header.kind == .p)
            #expect((0...51).contains(coded.qp))
        }
    }

    @Test("order counts grow with frame_num where output order is decoding order")
    func order() throws {
        let sets = try Self.sets([Samples.baselineSPS, Samples.baselinePPS])
        let sequence = try #require(sets.latestSequence)
        var order = PictureOrder()
        let places = try ([Samples.baselineIDR] + Samples.baselineP).map {
            order.place(of: try CodedSlice(nalUnit: $0[...], parameterSets: sets), sequence: sequence)
        }
        #expect(places.map(\.count) == [0, 2, 4, 6])
        #expect(Set(places.map(\.run)).count == 1)
    }

    @Test("no prefix and no mutation of a slice brings anything down")
    func hostile() throws {
        var random = SeededRandom(seed: 11)
        for (units, slices) in [
            ([Samples.baselineSPS, Samples.baselinePPS], Samples.baselineP + [Samples.baselineIDR]),
            ([Samples.interlacedSPS, Samples.interlacedPPS], Samples.interlacedSlices),
        ] {
            let sets = try Self.sets(units)
            let sequence = try #require(sets.latestSequence)
            var order = PictureOrder()
            for slice in slices {
                for count in 0...slice.count {
                    _ = try? CodedSlice(nalUnit: slice[..<count], parameterSets: sets)
                }
                for _ in 0..<500 {
                    let mutated = random.mutation(of: slice)
                    if let coded = try? CodedSlice(nalUnit: mutated[...], parameterSets: sets) {
                        _ = order.place(of: coded, sequence: sequence)
                    }
                }
            }
        }
    }
}
