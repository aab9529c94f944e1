import H264
import MediaTypes

/// What a file needs to know of an access unit beside its bytes.
struct PictureFacts: Sendable {
    /// The SPS that it refers to.
    let sequence: SequenceParameterSet
    /// All parameter sets that hold now.
    let parameterSets: [[UInt8]]
    /// Whether they differ from those at the picture before.
    let changesSets: Bool
    let place: PictureOrder.Place
}

/// Follows parameter sets and order counts through access units in the order of decoding.
struct PictureReading: Sendable {
    private var sets = ParameterSets()
    private var order = PictureOrder()

    /// What is known of the next access unit; nil where it has no slice that can be read.
    mutating func read(_ unit: AccessUnit) -> PictureFacts? {
        let before = sets.nalUnits
        for range in unit.nalUnits {
            let nalUnit = unit.bytes[range]
            guard let first = nalUnit.first, let type = NALUnitHeader(first)?.type else { continue }
            if type.isParameterSet {
                _ = try? sets.insert(nalUnit)
            } else if type.beginsWithSliceHeader {
                guard let slice = try? CodedSlice(nalUnit: nalUnit, parameterSets: sets),
                    let sequence = sets.sequenceParameterSet(slice.header.sequenceParameterSetID)
                else { return nil }
                return PictureFacts(
                    sequence: sequence, parameterSets: sets.nalUnits, changesSets: sets.nalUnits != before,
                    place: order.place(of: slice, sequence: sequence))
            }
        }
        return nil
    }
}
