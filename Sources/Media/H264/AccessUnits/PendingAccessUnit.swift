import MediaTypes

/// The NAL units of an access unit that has not ended yet.
struct PendingAccessUnit: Sendable {
    private(set) var hasSlice = false
    private(set) var isIDR = false
    /// Whether it grew past a limit; nothing more is kept then.
    private(set) var isOversized = false
    private(set) var captureTime: MonotonicTime?
    private var bytes: [UInt8] = []
    private var nalUnits: [Range<Int>] = []
    private var types: [NALUnitType] = []

    /// Whether no NAL unit was added.
    var isEmpty: Bool { types.isEmpty && !isOversized }

    /// Adds the NAL unit that stands at `range` in `payload`, behind the start code that begins `payload`.
    mutating func append(_ payload: [UInt8], _ range: Range<Int>, _ type: NALUnitType, _ time: MonotonicTime?) {
        if captureTime == nil { captureTime = time }
        if type.isSlice { hasSlice = true }
        if type == .idrSlice { isIDR = true }
        guard !isOversized, nalUnits.count < AccessUnitBuilder.nalUnitLimit,
            payload.count <= AccessUnitBuilder.byteLimit - bytes.count
        else {
            isOversized = true
            bytes = []
            return
        }
        let start = bytes.count
        if start == 0, range.upperBound == payload.count {
            // Most pictures are one NAL unit: share the caller's bytes instead of copying them.
            bytes = payload
        } else {
            bytes.append(contentsOf: payload[..<range.upperBound])
        }
        nalUnits.append(start + range.lowerBound..<start + range.upperBound)
        types.append(type)
    }

    /// The access unit; an IDR picture's begins with all parameter sets. Nil where that makes it too large.
    func accessUnit(_ parameterSets: ParameterSets) -> CodedFrame? {
        let sets = parameterSets.nalUnits
        if !isIDR || begins(with: sets) {
            return CodedFrame(h264: bytes, units: nalUnits, captureTime: captureTime)
        }
        var whole: [UInt8] = []
        var ranges: [Range<Int>] = []
        let size = sets.reduce(bytes.count) { $0 + $1.count + 4 }
        guard size <= AccessUnitBuilder.byteLimit else { return nil }
        whole.reserveCapacity(size)
        func append(_ nalUnit: ArraySlice<UInt8>) {
            whole.append(contentsOf: AnnexB.startCode)
            ranges.append(whole.count..<whole.count + nalUnit.count)
            whole.append(contentsOf: nalUnit)
        }
        for set in sets { append(set[...]) }
        for (range, type) in zip(nalUnits, types) where !type.isParameterSet { append(bytes[range]) }
        return CodedFrame(h264: whole, units: ranges, captureTime: captureTime)
    }

    /// Whether exactly these parameter sets stand in front, and none behind them.
    private func begins(with sets: [[UInt8]]) -> Bool {
        types.count { $0.isParameterSet } == sets.count
            && zip(nalUnits, sets).allSatisfy { bytes[$0].elementsEqual($1) }
    }
}
