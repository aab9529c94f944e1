/// The parameter sets of a stream, by id: the latest of each. At most 32 SPS and 256 PPS, of 128 KiB together.
public struct ParameterSets: Sendable {
    /// An SPS may have so many bytes.
    public static let sequenceLimit = 1 << 10
    /// A PPS may have so many bytes: one with an explicit map of slice groups has up to three bits a macroblock.
    public static let pictureLimit = 64 << 10
    /// All together may have so many bytes, since they go in front of every IDR picture.
    public static let totalLimit = 128 << 10

    private struct Stored<Parsed: Sendable>: Sendable {
        let parsed: Parsed
        let nalUnit: [UInt8]
    }

    private var sequence: [UInt8: Stored<SequenceParameterSet>] = [:]
    private var picture: [UInt8: Stored<PictureParameterSet>] = [:]

    /// All NAL units, without start codes: each SPS by its id, then each PPS by its id.
    public private(set) var nalUnits: [[UInt8]] = []
    /// The SPS that arrived last.
    public private(set) var latestSequence: SequenceParameterSet?

    /// None yet.
    public init() {}

    /// How many are stored.
    public var count: Int { nalUnits.count }

    /// Whether there is at least one PPS whose SPS is there too.
    public var isUsable: Bool {
        picture.values.contains { sequence[$0.parsed.sequenceParameterSetID] != nil }
    }

    /// The SPS of this id.
    public func sequenceParameterSet(_ id: UInt8) -> SequenceParameterSet? { sequence[id]?.parsed }

    /// The PPS of this id.
    public func pictureParameterSet(_ id: UInt8) -> PictureParameterSet? { picture[id]?.parsed }

    /// Stores an SPS or PPS NAL unit, given without start code, in place of the one with its id.
    ///
    /// - Returns: whether it differs from the one that was there.
    /// - Throws: what is wrong with it; nothing is stored then.
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

    /// Whether `nalUnit` is what is stored already; throws where it has no room in place of that.
    private func isStored(_ nalUnit: ArraySlice<UInt8>, inPlaceOf old: [UInt8]?) throws(H264Error) -> Bool {
        if let old, old.elementsEqual(nalUnit) { return true }
        let total = nalUnits.reduce(nalUnit.count - (old?.count ?? 0)) { $0 + $1.count }
        guard total <= Self.totalLimit else { throw .tooLong(count: total, limit: Self.totalLimit) }
        return false
    }
}
