public import MediaTypes

/// Builds access units from the NAL units of a stream, in decoding order (ITU-T H.264 sections 7.4.1.2.3 and 7.4.1.2.4).
///
/// A sender may mark where each access unit ends: then `add(_:captureTime:)` takes its NAL units, and `endAccessUnit()` ends
/// each access unit. If it doesn't, `addUnmarked(_:)` finds the ends in the slice headers. An IDR access unit begins with all
/// parameter sets received so far. NAL units that can't be used are dropped and counted; no input stops the builder.
public struct AccessUnitBuilder: Sendable {
    /// The most bytes of an access unit, parameter sets and start codes included.
    public static let byteLimit = 16 << 20
    /// The most NAL units of an access unit.
    public static let nalUnitLimit = 1024

    /// What the builder has done so far.
    public private(set) var counters = AccessUnitCounters()

    private var parameterSets = ParameterSets()
    private var pending = PendingAccessUnit()
    /// The last slice of an unmarked stream, also after `endAccessUnit()`.
    private var lastSlice: SliceHeader?
    private var ready: [CodedFrame] = []

    /// A builder that has seen nothing.
    public init() {}

    /// Whether no NAL unit of the next access unit has been added.
    public var isEmpty: Bool { pending.isEmpty }
    /// Whether the pending access unit has a slice.
    public var hasSlice: Bool { pending.hasSlice }
    /// The capture time of the pending access unit; nil if none was given.
    public var captureTime: MonotonicTime? { pending.captureTime }

    /// Adds the NAL unit in `bytes`, which begin with a start code of four bytes, to the pending access unit.
    public mutating func add(_ bytes: [UInt8], captureTime: MonotonicTime?) {
        if let nalUnit = read(bytes) { append(bytes, nalUnit, captureTime) }
    }

    /// Adds the NAL unit in `bytes`, which begin with a start code of four bytes, of a stream that doesn't mark the ends of its
    /// access units. If it begins the next access unit, it ends the pending one.
    public mutating func addUnmarked(_ bytes: [UInt8]) {
        guard let nalUnit = read(bytes) else { return }
        if nalUnit.type.startsAccessUnit {
            if pending.hasSlice { endAccessUnit() }
            lastSlice = nil
        }
        guard nalUnit.type.beginsWithSliceHeader else { return append(bytes, nalUnit, nil) }
        guard let slice = try? SliceHeader(nalUnit: bytes[nalUnit.range], parameterSets: parameterSets) else {
            if parameterSets.isUsable {
                counters.invalidNALUnits &+= 1
            } else {
                counters.withoutParameterSets &+= 1
            }
            return
        }
        if let lastSlice {
            if isFirstOfNewPicture(previous: lastSlice, next: slice) {
                if pending.hasSlice { endAccessUnit() }
            } else if !pending.hasSlice {
                counters.lateSlices &+= 1
                return
            }
        }
        lastSlice = slice
        append(bytes, nalUnit, nil)
    }

    /// Ends the pending access unit; `next()` returns it unless it is unusable.
    public mutating func endAccessUnit() {
        let ended = pending
        pending = PendingAccessUnit()
        guard ended.hasSlice else {
            counters.emptyAccessUnits &+= 1
            return
        }
        guard parameterSets.isUsable else {
            counters.withoutParameterSets &+= 1
            return
        }
        guard !ended.isOversized, let accessUnit = ended.accessUnit(parameterSets) else {
            counters.oversizedAccessUnits &+= 1
            return
        }
        counters.accessUnits &+= 1
        if accessUnit.isRandomAccess { counters.idrAccessUnits &+= 1 }
        ready.append(accessUnit)
    }

    /// Ends the pending access unit because the next one begins, though its sender marks ends and hasn't marked this one. Does
    /// nothing if no slice is pending.
    public mutating func endWithoutMark() {
        guard pending.hasSlice else { return }
        counters.missingEnds &+= 1
        endAccessUnit()
    }

    /// Drops the pending access unit, whose end will never come.
    public mutating func discardPending() {
        if pending.hasSlice { counters.cutOff &+= 1 }
        pending = PendingAccessUnit()
    }

    /// Begins another stream: drops the pending access unit and all parameter sets.
    public mutating func reset() {
        discardPending()
        parameterSets = ParameterSets()
        lastSlice = nil
    }

    /// Returns the next complete access unit, or nil if there is none.
    public mutating func next() -> CodedFrame? {
        ready.isEmpty ? nil : ready.removeFirst()
    }

    // MARK: NAL units

    private struct ReadNALUnit {
        let type: NALUnitType
        /// Its place in the bytes, without the start code and trailing zeros.
        let range: Range<Int>
    }

    /// Finds the NAL unit in `bytes`; nil, and counted, if there is none.
    private mutating func read(_ bytes: [UInt8]) -> ReadNALUnit? {
        counters.nalUnits &+= 1
        // A NAL unit never ends with a zero byte (section 7.4.1): such bytes are trailing_zero_8bits.
        var end = bytes.count
        while end > 5, bytes[end - 1] == 0 { end -= 1 }
        guard end > 5, bytes.starts(with: AnnexB.startCode), let header = NALUnitHeader(bytes[4]),
            !header.type.isUnspecified
        else {
            counters.invalidNALUnits &+= 1
            return nil
        }
        return ReadNALUnit(type: header.type, range: 4..<end)
    }

    private mutating func append(_ bytes: [UInt8], _ nalUnit: ReadNALUnit, _ time: MonotonicTime?) {
        switch nalUnit.type {
        case .sequenceParameterSet, .pictureParameterSet:
            do {
                try parameterSets.insert(bytes[nalUnit.range])
            } catch {
                counters.invalidNALUnits &+= 1
                return
            }
        case .supplementalEnhancementInformation:
            break
        case let type where type.isSlice:
            break
        default:
            counters.skippedNALUnits &+= 1
            return
        }
        pending.append(bytes, nalUnit.range, nalUnit.type, time)
    }
}

extension AccessUnitBuilder {
    /// Returns the access units of a whole Annex B byte stream, as a file has it. NAL units that can't be used are dropped.
    public static func accessUnits(inAnnexB bytes: [UInt8]) -> [CodedFrame] {
        var builder = AccessUnitBuilder()
        for range in AnnexB.nalUnits(in: bytes) { builder.addUnmarked(AnnexB.startCode + bytes[range]) }
        if builder.hasSlice { builder.endAccessUnit() }
        return builder.ready
    }
}

/// What an `AccessUnitBuilder` has done so far. All counts only grow.
public struct AccessUnitCounters: Hashable, Sendable {
    /// Access units returned.
    public var accessUnits: UInt64 = 0
    /// IDR access units among them.
    public var idrAccessUnits: UInt64 = 0
    /// NAL units added.
    public var nalUnits: UInt64 = 0
    /// NAL units dropped because no reader needs them (access unit delimiters, filler, extensions).
    public var skippedNALUnits: UInt64 = 0

    /// Fault: NAL units that can't be read, or of a type that no encoder sends.
    public var invalidNALUnits: UInt64 = 0
    /// Fault: slices of a picture that had already been ended by a timeout.
    public var lateSlices: UInt64 = 0
    /// Fault: access units without a slice.
    public var emptyAccessUnits: UInt64 = 0
    /// Fault: access units dropped because their SPS or PPS was never sent.
    public var withoutParameterSets: UInt64 = 0
    /// Fault: access units dropped because they exceeded the limit of bytes or NAL units.
    public var oversizedAccessUnits: UInt64 = 0
    /// Fault: access units whose end their sender should have marked, and didn't.
    public var missingEnds: UInt64 = 0
    /// Fault: access units dropped because the stream ended or began anew in the middle of them.
    public var cutOff: UInt64 = 0

    /// The sum of all faults.
    public var faults: UInt64 {
        invalidNALUnits &+ lateSlices &+ emptyAccessUnits &+ withoutParameterSets &+ oversizedAccessUnits
            &+ missingEnds &+ cutOff
    }

    /// All counts at zero.
    public init() {}
}
