public import MediaTypes

/// Builds access units from the NAL units of a stream, in decoding order (ITU-T H.264 sections 7.4.1.2.3 and
/// 7.4.1.2.4).
///
/// A sender may mark where each access unit ends: then `add(_:captureTime:)` takes its NAL units, and `endFrame()` ends
/// each access unit. If it doesn't, `addUnmarked(_:)` finds the ends in the slice headers. An IDR access unit begins
/// with all parameter sets received so far. NAL units that can't be used are dropped and counted; no input stops the
/// builder.
public struct AccessUnitBuilder: FrameBuilder {
    /// The most bytes of an access unit, parameter sets and start codes included.
    public static let byteLimit = 16 << 20
    /// The most NAL units of an access unit.
    public static let nalUnitLimit = 1024

    /// What the builder has done so far.
    public var counters = FrameCounters()

    private var parameterSets = ParameterSets()
    private var pending = PendingAccessUnit()
    /// The last slice of an unmarked stream, also after `endFrame()`.
    private var lastSlice: SliceHeader?
    /// Whether an unmarked stream had a slice, usable or not, since an access unit began.
    private var hasSeenSlice = false
    private var ready: [CodedFrame] = []

    /// A builder that has seen nothing.
    public init() {}

    /// Whether no NAL unit of the next access unit has been added.
    public var isEmpty: Bool { pending.isEmpty }
    /// Whether the pending access unit has a slice.
    public var hasContent: Bool { pending.hasSlice }
    /// The capture time of the pending access unit; nil if none was given.
    public var captureTime: MonotonicTime? { pending.captureTime }
    /// The parameter sets received so far.
    public var headers: [[UInt8]] { parameterSets.nalUnits }

    /// Adds the NAL unit in `bytes`, which begin with a start code of four bytes, to the pending access unit.
    public mutating func add(_ bytes: [UInt8], captureTime: MonotonicTime?) {
        if let nalUnit = read(bytes) { append(bytes, nalUnit, captureTime) }
    }

    /// Adds the NAL unit in `bytes`, which begin with a start code of four bytes, of a stream that doesn't mark the
    /// ends of its access units. If it begins the next access unit, it ends the pending one.
    @discardableResult
    public mutating func addUnmarked(_ bytes: [UInt8]) -> Bool {
        guard let nalUnit = read(bytes) else { return false }
        var begins = false
        if nalUnit.type.startsAccessUnit {
            begins = hasSeenSlice
            hasSeenSlice = false
            if pending.hasSlice { endFrame() }
            lastSlice = nil
        }
        if nalUnit.type.isSlice { hasSeenSlice = true }
        if nalUnit.type.beginsWithSliceHeader {
            guard let slice = try? SliceHeader(nalUnit: bytes[nalUnit.range], parameterSets: parameterSets) else {
                if parameterSets.isUsable {
                    counters.invalidUnits &+= 1
                } else {
                    counters.withoutHeaders &+= 1
                }
                return begins
            }
            if let lastSlice {
                if isFirstOfNewPicture(previous: lastSlice, next: slice) {
                    begins = true
                    if pending.hasSlice { endFrame() }
                } else if !pending.hasSlice {
                    counters.lateUnits &+= 1
                    return false
                }
            }
            lastSlice = slice
        }
        append(bytes, nalUnit, nil)
        return begins
    }

    /// Ends the pending access unit; `next()` returns it unless it is unusable.
    public mutating func endFrame() {
        let ended = pending
        pending = PendingAccessUnit()
        guard ended.hasSlice else {
            counters.emptyFrames &+= 1
            return
        }
        guard parameterSets.isUsable else {
            counters.withoutHeaders &+= 1
            return
        }
        guard !ended.isOversized, let accessUnit = ended.accessUnit(parameterSets) else {
            counters.oversizedFrames &+= 1
            return
        }
        counters.frames &+= 1
        if accessUnit.isRandomAccess { counters.randomAccessFrames &+= 1 }
        ready.append(accessUnit)
    }

    /// Ends the pending access unit because the next one begins, though its sender marks ends and hasn't marked this
    /// one. Does nothing if no slice is pending.
    public mutating func endWithoutMark() {
        guard pending.hasSlice else { return }
        counters.missingEnds &+= 1
        endFrame()
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
        hasSeenSlice = false
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
        counters.units &+= 1
        // A NAL unit never ends with a zero byte (section 7.4.1): such bytes are trailing_zero_8bits.
        var end = bytes.count
        while end > 5, bytes[end - 1] == 0 { end -= 1 }
        guard end > 5, bytes.starts(with: AnnexB.startCode), let header = NALUnitHeader(bytes[4]),
            !header.type.isUnspecified
        else {
            counters.invalidUnits &+= 1
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
                counters.invalidUnits &+= 1
                return
            }
        case .supplementalEnhancementInformation:
            break
        case let type where type.isSlice:
            break
        default:
            counters.skippedUnits &+= 1
            return
        }
        pending.append(bytes, nalUnit.range, nalUnit.type, time)
    }
}

extension AccessUnitBuilder {
    /// Returns the access units of a whole Annex B byte stream, as a file has it. NAL units that can't be used are
    /// dropped.
    public static func accessUnits(inAnnexB bytes: [UInt8]) -> [CodedFrame] {
        var builder = AccessUnitBuilder()
        for range in AnnexB.nalUnits(in: bytes) { builder.addUnmarked(AnnexB.startCode + bytes[range]) }
        if builder.hasContent { builder.endFrame() }
        return builder.ready
    }
}
