public import MediaTypes

/// What the link, recordings and files must know of H.264, whose units are NAL units.
public struct H264Coding: FrameCoding {
    public init() {}

    public func makeBuilder() -> any FrameBuilder { AccessUnitBuilder() }
    public func makeReader() -> any FrameReader { AccessUnitReader() }

    public func facts(of unit: ArraySlice<UInt8>) -> UnitFacts? {
        guard let type = unit.first.flatMap({ NALUnitHeader($0)?.type }), !type.isUnspecified else { return nil }
        switch type {
        case .sequenceParameterSet: return [.header, .firstHeader, .mayBeginFrame]
        case .pictureParameterSet: return [.header, .mayBeginFrame]
        case let type where type.isSlice:
            var facts: UnitFacts = type == .idrSlice ? [.content, .randomAccess] : .content
            // first_mb_in_slice, ue(v), is 0 if its first bit is 1 (ITU-T H.264 section 7.3.3).
            if (unit.dropFirst().first ?? 0) & 0x80 != 0 { facts.insert(.mayBeginFrame) }
            return facts
        default: return .mayBeginFrame
        }
    }
}

/// Tracks parameter sets and order counts through access units in decoding order.
struct AccessUnitReader: FrameReader {
    private var sets = ParameterSets()
    private var order = PictureOrder()

    /// The properties of the next access unit; nil if it has no readable slice.
    mutating func read(_ frame: CodedFrame) -> FrameFacts? {
        let before = sets.nalUnits
        for range in frame.units {
            let nalUnit = frame.bytes[range]
            guard let first = nalUnit.first, let type = NALUnitHeader(first)?.type else { continue }
            if type.isParameterSet {
                _ = try? sets.insert(nalUnit)
            } else if type.beginsWithSliceHeader {
                guard let slice = try? CodedSlice(nalUnit: nalUnit, parameterSets: sets),
                    let sequence = sets.sequenceParameterSet(slice.header.sequenceParameterSetID)
                else { return nil }
                return FrameFacts(
                    format: FrameFacts.FileFormat(
                        codec: .h264, size: sequence.size,
                        samples: [sequence.chromaFormatIDC, sequence.lumaBitDepth]),
                    headers: sets.nalUnits, changesHeaders: sets.nalUnits != before,
                    place: order.place(of: slice, sequence: sequence))
            }
        }
        return nil
    }
}
