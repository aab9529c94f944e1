import H264
import MediaTypes

/// The properties of an access unit that a file needs in addition to its bytes.
struct PictureFacts: Sendable {
    /// The SPS that it refers to.
    let sequence: SequenceParameterSet
    /// All parameter sets that currently apply.
    let parameterSets: [[UInt8]]
    /// Whether they differ from those of the previous picture.
    let changesSets: Bool
    let place: PictureOrder.Place
}

/// Tracks parameter sets and order counts through access units in decoding order.
struct PictureReading: Sendable {
    private var sets = ParameterSets()
    private var order = PictureOrder()

    /// The properties of the next access unit; nil if it has no readable slice.
    mutating func read(_ unit: CodedFrame) -> PictureFacts? {
        let before = sets.nalUnits
        for range in unit.units {
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
