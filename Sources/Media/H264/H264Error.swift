/// Why a NAL unit can't be read.
public enum H264Error: Error, Hashable, Sendable, CustomStringConvertible {
    /// It ends before its last syntax element.
    case truncated
    /// It is not of the type that was looked for.
    case unexpectedType(NALUnitType?)
    /// A syntax element has a value that the specification, or a limit of ours, rules out.
    case outOfRange(element: String, value: Int64)
    /// It refers to a parameter set that was never sent.
    case missingParameterSet(kind: NALUnitType, id: UInt8)
    /// It is longer than a parameter set, or makes all of them longer together, than they may be.
    case tooLong(count: Int, limit: Int)
    /// There is no NAL unit in what should be an access unit.
    case noNALUnit
    /// What should be one access unit has so many pictures.
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
