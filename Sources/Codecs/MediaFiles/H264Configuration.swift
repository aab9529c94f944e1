import H264

/// AVCDecoderConfigurationRecord: the parameter sets that a file stores with the track, not in it (ISO/IEC 14496-15
/// section 5.3.3.1).
struct H264Configuration {
    /// The record: the parameter sets, and four bytes as the size of NAL unit lengths.
    let bytes: [UInt8]

    /// Creates the record from NAL units without start codes. Nil if they don't include an SPS and a PPS, or if one is
    /// too long.
    init?(_ parameterSets: [[UInt8]]) {
        let sequences = Self.sets(.sequenceParameterSet, in: parameterSets).prefix(31)
        let pictures = Self.sets(.pictureParameterSet, in: parameterSets).prefix(255)
        guard let first = sequences.first, !pictures.isEmpty,
            let sequence = try? SequenceParameterSet(nalUnit: first[...])
        else { return nil }
        let id = sequence.profileLevelID
        var record: [UInt8] = [1, id.profileIDC, id.constraintFlags, id.levelIDC, 0xFF]
        for (list, mark) in [(sequences, UInt8(0xE0)), (pictures, 0)] {
            record.append(mark | UInt8(truncatingIfNeeded: list.count))
            for set in list {
                guard let length = UInt16(exactly: set.count) else { return nil }
                record += [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
                record += set
            }
        }
        // Baseline, Main and Extended are 8-bit 4:2:0 by definition; all other profiles state their format.
        if ![66, 77, 88].contains(id.profileIDC) {
            record.append(0xFC | UInt8(truncatingIfNeeded: sequence.chromaFormatIDC))
            record.append(0xF8 | UInt8(truncatingIfNeeded: sequence.lumaBitDepth - 8))
            record.append(0xF8 | UInt8(truncatingIfNeeded: sequence.chromaBitDepth - 8))
            record.append(0)
        }
        bytes = record
    }

    private static func sets(_ type: NALUnitType, in all: [[UInt8]]) -> [[UInt8]] {
        all.filter { $0.first.flatMap { NALUnitHeader($0) }?.type == type }
    }
}
