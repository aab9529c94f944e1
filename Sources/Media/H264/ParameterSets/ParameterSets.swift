/// The latest parameter sets of a stream, by id. Holds at most 32 SPS and 256 PPS, and 128 KiB in total.
public struct ParameterSets: Sendable {
    /// The largest size of an SPS in bytes.
    public static let sequenceLimit = 1 << 10
    /// The largest size of a PPS in bytes. An explicit map of slice groups takes up to three bits for each macroblock.
    public static let pictureLimit = 64 << 10
    /// The largest total size in bytes. It is limited because all parameter sets are sent before every IDR picture.
    public static let totalLimit = 128 << 10

    private struct Stored<Parsed: Sendable>: Sendable {
        let parsed: Parsed
        let nalUnit: [UInt8]
    }

    private var sequence: [UInt8: Stored<SequenceParameterSet>] = [:]
    private var picture: [UInt8: Stored<PictureParameterSet>] = [:]

    /// All NAL units without start codes: every SPS in order of id, then every PPS in order of id.
    public private(set) var nalUnits: [[UInt8]] = []
    /// The SPS that was inserted last.
    public private(set) var latestSequence: SequenceParameterSet?

    /// Creates an empty collection.
    public init() {}

    /// The number of parameter sets.
    public var count: Int { nalUnits.count }

    /// Whether there is at least one PPS whose SPS is also stored.
    public var isUsable: Bool {
        picture.values.contains { sequence[$0.parsed.sequenceParameterSetID] != nil }
    }

    /// The SPS with this id.
    public func sequenceParameterSet(_ id: UInt8) -> SequenceParameterSet? { sequence[id]?.parsed }

    /// The PPS with this id.
    public func pictureParameterSet(_ id: UInt8) -> PictureParameterSet? { picture[id]?.parsed }

    /// Stores an SPS or PPS NAL unit, given without its start code, and replaces the one with the same id.
    ///
    /// - Returns: Whether it differs from the one that it replaces.
    /// - Throws: ``H264Error`` if the NAL unit is invalid; nothing is stored then.
    @discardableResult
    public mutating func insert(_ nalUnit: ArraySlice<UInt8>) throws(H264Error) -> Bool {
        guard let first = nalUnit.first else { throw .truncated }
        let type = NALUnitHeader(first)?.type
        let limit = type == .sequenceParameterSet ? Self.sequenceLimit : Self.pictureLimit
        guard nalUnit.count <= limit else { throw .tooLong(count: nalUnit.count, limit: limit) }
        switch type {
        case .sequenceParameterSet:
            let parsed = try SequenceParameterSet(nalUnit: nalUnit)
            let old = sequence[parsed.id]?.nalUnit
            if try isStored(nalUnit, inPlaceOf: old) {
                latestSequence = parsed
                return false
            }
            sequence[parsed.id] = Stored(parsed: parsed, nalUnit: Array(nalUnit))
            latestSequence = parsed
        case .pictureParameterSet:
            let parsed = try PictureParameterSet(nalUnit: nalUnit)
            let old = picture[parsed.id]?.nalUnit
            if try isStored(nalUnit, inPlaceOf: old) { return false }
            picture[parsed.id] = Stored(parsed: parsed, nalUnit: Array(nalUnit))
        default:
            throw .unexpectedType(type)
        }
        nalUnits =
            sequence.sorted { $0.key < $1.key }.map(\.value.nalUnit)
            + picture.sorted { $0.key < $1.key }.map(\.value.nalUnit)
        return true
    }

    /// Whether `nalUnit` equals `old`. Throws if it doesn't and there isn't enough room to replace `old`.
    private func isStored(_ nalUnit: ArraySlice<UInt8>, inPlaceOf old: [UInt8]?) throws(H264Error) -> Bool {
        if let old, old.elementsEqual(nalUnit) { return true }
        let total = nalUnits.reduce(nalUnit.count - (old?.count ?? 0)) { $0 + $1.count }
        guard total <= Self.totalLimit else { throw .tooLong(count: total, limit: Self.totalLimit) }
        return false
    }
}
