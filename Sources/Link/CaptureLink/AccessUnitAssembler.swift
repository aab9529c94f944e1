import H264
public import MediaTypes

/// Puts access units together from messages.
///
/// From our own sender an access unit ends where its last NAL unit says so. A legacy stream doesn't say: there an
/// access unit ends before the first NAL unit of the next (ITU-T H.264 sections 7.4.1.2.3 and 7.4.1.2.4), or after 40 ms
/// without a byte. What can't be used is left out and counted; nothing that a peer sends stops the assembler.
///
/// No thread and no clock: whoever owns it serialises, and says what time it is.
public struct AccessUnitAssembler: Sendable {
    /// How long a legacy access unit waits for a byte.
    public static let legacyPatience = Interval.milliseconds(40)
    /// An access unit has at most so many bytes, parameter sets included.
    public static let accessUnitLimit = 16 << 20
    /// An access unit has at most so many NAL units.
    public static let nalUnitLimit = 1024

    /// What was done so far.
    public private(set) var counters = AssemblerCounters()
    /// The start of capture that is being received; 0 from a legacy sender and before the first picture.
    public private(set) var epoch: UInt64 = 0

    private let stream: UInt8
    private var parameterSets = ParameterSets()
    private var current = PendingAccessUnit()
    /// The last slice of a legacy stream, also after its access unit was ended by time.
    private var lastSlice: SliceHeader?
    private var isLegacy = false
    private var lastByteTime: MonotonicTime?
    private var nextNotice: PictureNotice?
    private var ready: [AssembledAccessUnit] = []
    private var readyIndex = 0

    /// An assembler for one stream of a connection.
    public init(stream: UInt8 = 0) {
        self.stream = stream
    }

    /// Takes a message that arrived at `now`; messages without a picture are ignored.
    public mutating func add(_ message: ReceivedMessage, at now: MonotonicTime) {
        switch message.body {
        case .picture(let notice):
            guard isOurs(message.header) else { return }
            endUnfinished()
            nextNotice = notice
        case .nalUnit(let payload):
            guard isOurs(message.header) else { return }
            isLegacy = message.form != .extended
            lastByteTime = now
            counters.nalUnits &+= 1
            if isLegacy {
                addLegacy(payload)
            } else {
                addExtended(payload, message.header)
            }
        default:
            break
        }
    }

    /// Bytes arrived that are not yet a whole message: a legacy access unit waits for what they become.
    public mutating func bytesArrived(at now: MonotonicTime) { lastByteTime = now }

    /// The next access unit that is complete.
    public mutating func next() -> AssembledAccessUnit? {
        guard readyIndex < ready.count else { return nil }
        let unit = ready[readyIndex]
        readyIndex += 1
        if readyIndex == ready.count {
            ready.removeAll(keepingCapacity: true)
            readyIndex = 0
        }
        return unit
    }

    /// When `timeout(_:)` is due, where nothing arrives before; nil where nothing waits.
    public var nextDeadline: MonotonicTime? {
        guard isLegacy, current.hasSlice, let lastByteTime else { return nil }
        return lastByteTime + Self.legacyPatience
    }

    /// Ends a legacy access unit that waited long enough; harmless before its deadline.
    public mutating func timeout(_ now: MonotonicTime) {
        guard let deadline = nextDeadline, now >= deadline else { return }
        counters.timeouts &+= 1
        complete()
    }

    /// The connection has ended: what is pending from a legacy sender is the last access unit.
    ///
    /// From our own sender a pending access unit is not whole, and is left out.
    public mutating func finish() {
        guard current.hasSlice else { return }
        if isLegacy {
            complete()
        } else {
            counters.cutOff &+= 1
            current = PendingAccessUnit()
        }
    }

    // MARK: Epoch and ends

    /// Whether the message belongs to our stream; begins a new epoch where it says so.
    private mutating func isOurs(_ header: MessageHeader) -> Bool {
        guard header.stream == stream else {
            counters.otherStreamMessages &+= 1
            return false
        }
        if header.epoch != epoch {
            if current.hasSlice { counters.cutOff &+= 1 }
            current = PendingAccessUnit()
            parameterSets = ParameterSets()
            lastSlice = nil
            nextNotice = nil
            epoch = header.epoch
        }
        return true
    }

    /// The next picture begins, but the last one never said that it ended.
    private mutating func endUnfinished() {
        guard current.hasSlice else { return }
        if !isLegacy { counters.missingEnds &+= 1 }
        complete()
    }

    /// Gives out what is pending, unless it is of no use to anybody.
    private mutating func complete() {
        let pending = current
        current = PendingAccessUnit()
        // A notice whose NAL units were all left out must not speak for the next picture.
        nextNotice = nil
        guard pending.hasSlice else {
            counters.emptyAccessUnits &+= 1
            return
        }
        guard parameterSets.isUsable else {
            counters.withoutParameterSets &+= 1
            return
        }
        guard !pending.isOversized, var accessUnit = pending.accessUnit(parameterSets) else {
            counters.oversizedAccessUnits &+= 1
            return
        }
        accessUnit.isPointerDrawn = pending.notice?.isPointerDrawn ?? true
        counters.accessUnits &+= 1
        if accessUnit.isIDR { counters.idrAccessUnits &+= 1 }
        ready.append(AssembledAccessUnit(accessUnit: accessUnit, epoch: epoch, notice: pending.notice))
    }

    // MARK: NAL units

    private mutating func addExtended(_ payload: [UInt8], _ header: MessageHeader) {
        // Another time is another picture, so an end went missing.
        if let time = header.captureTime, let pending = current.captureTime, time != pending { endUnfinished() }
        if let nalUnit = read(payload) { append(payload, nalUnit, header.captureTime) }
        if header.flags.contains(.endOfAccessUnit) { complete() }
    }

    private mutating func addLegacy(_ payload: [UInt8]) {
        guard let nalUnit = read(payload) else { return }
        if nalUnit.type.startsAccessUnit {
            if current.hasSlice { complete() }
            lastSlice = nil
        }
        guard nalUnit.type.beginsWithSliceHeader else {
            append(payload, nalUnit, nil)
            return
        }
        guard let slice = try? SliceHeader(nalUnit: payload[nalUnit.range], parameterSets: parameterSets) else {
            if parameterSets.isUsable {
                counters.invalidNALUnits &+= 1
            } else {
                counters.withoutParameterSets &+= 1
            }
            return
        }
        if let lastSlice {
            if isFirstOfNewPicture(previous: lastSlice, next: slice) {
                if current.hasSlice { complete() }
            } else if !current.hasSlice {
                counters.lateSlices &+= 1
                return
            }
        }
        lastSlice = slice
        append(payload, nalUnit, nil)
    }

    private struct ReadNALUnit {
        let type: NALUnitType
        /// Its place in the payload, without start code and trailing zeros.
        let range: Range<Int>
    }

    /// What NAL unit a payload is; nil, and counted, where it is none.
    private mutating func read(_ payload: [UInt8]) -> ReadNALUnit? {
        guard payload.starts(with: AnnexB.startCode) else {
            counters.invalidNALUnits &+= 1
            return nil
        }
        // A NAL unit never ends with a zero byte (section 7.4.1): what does is trailing_zero_8bits.
        var end = payload.count
        while end > 5, payload[end - 1] == 0 { end -= 1 }
        guard end > 5, let header = NALUnitHeader(payload[4]), !header.type.isUnspecified else {
            counters.invalidNALUnits &+= 1
            return nil
        }
        return ReadNALUnit(type: header.type, range: 4..<end)
    }

    private mutating func append(_ payload: [UInt8], _ nalUnit: ReadNALUnit, _ time: MonotonicTime?) {
        switch nalUnit.type {
        case .sequenceParameterSet, .pictureParameterSet:
            do {
                try parameterSets.insert(payload[nalUnit.range])
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
        if current.isEmpty {
            current.notice = nextNotice
            nextNotice = nil
        }
        current.append(payload, nalUnit.range, nalUnit.type, time)
    }
}
