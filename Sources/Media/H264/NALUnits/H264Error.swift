/// The reason why a NAL unit or an access unit can't be read.
public enum H264Error: Error, Hashable, Sendable, CustomStringConvertible {
    /// The NAL unit ends before its last syntax element.
    case truncated
    /// The NAL unit isn't of the expected type; the value is nil if the forbidden_zero_bit is set.
    case unexpectedType(NALUnitType?)
    /// A syntax element has a value outside the range that the specification or a limit of this library allows.
    case outOfRange(element: String, value: Int64)
    /// A slice or PPS refers to a parameter set that was never sent.
    case missingParameterSet(kind: NALUnitType, id: UInt8)
    /// A parameter set exceeds its limit in bytes, or the limit for all parameter sets together.
    case tooLong(count: Int, limit: Int)
    /// An access unit without any NAL unit.
    case noNALUnit
    /// An access unit with more than one picture.
    case severalPictures(count: Int)

    public var description: String {
        switch self {
        case .truncated: "the NAL unit ends too early"
        case .unexpectedType(let type): "the NAL unit is of another type (\(type?.description ?? "forbidden bit set"))"
        case .outOfRange(let element, let value): "\(element) is \(value), which is out of range"
        case .missingParameterSet(let kind, let id): "it refers to \(kind) \(id), which was never sent"
        case .tooLong(let count, let limit): "parameter sets of \(count) bytes; the limit is \(limit)"
        case .noNALUnit: "no NAL unit in it; an access unit is an Annex B byte stream, with start codes"
        case .severalPictures(let count):
            "\(count) pictures in it; an access unit has one, and AccessUnitBuilder.accessUnits(inAnnexB:) splits a file"
        }
    }
}
