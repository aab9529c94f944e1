import CaptureLink
import H264
import MediaTypes

/// Assembles pictures from NAL units without keeping their bytes, and reports faults.
///
/// The rules are those of `FrameAssembler`: in the extended form, the last NAL unit is marked; in legacy forms and
/// in Annex B, ITU-T H.264 sections 7.4.1.2.3 and 7.4.1.2.4 define where the next access unit begins.
struct PictureTracker: Sendable {
    /// The SPS in the NAL unit that was just added, if it is one.
    private(set) var newSequence: SequenceParameterSet?

    private var sets = ParameterSets()
    private var current = PendingPicture()
    private var lastSlice: SliceHeader?
    private var order = PictureOrder()
    private var succession = PictureSuccession()
    private var epoch: UInt64 = 0
    private var isLegacy = false
    private var nextNumber: UInt64 = 0
    private var lastArrival: MonotonicTime?
    private var faults: [InspectionFault] = []
    private var endedBefore: [InspectedPicture] = []
    private var endedBehind: [InspectedPicture] = []

    mutating func takeFaults() -> [InspectionFault] {
        defer { faults.removeAll(keepingCapacity: true) }
        return faults
    }

    /// Returns the pictures that ended before the message that was just added.
    mutating func takeEndedBefore() -> [InspectedPicture] {
        defer { endedBefore.removeAll(keepingCapacity: true) }
        return endedBefore
    }

    /// Returns the pictures that ended with the message that was just added.
    mutating func takeEndedBehind() -> [InspectedPicture] {
        defer { endedBehind.removeAll(keepingCapacity: true) }
        return endedBehind
    }

    mutating func fault(_ code: InspectionFault.Code, at offset: UInt64, _ text: String) {
        faults.append(InspectionFault(code, at: offset, text))
    }

    /// Takes the picture message that precedes a picture.
    mutating func add(_ notice: PictureNotice, _ row: InspectedMessage) {
        newSequence = nil
        begin(row.epoch, at: row.offset)
        endUnfinished(at: row.offset)
        if let fault = succession.fault(of: notice, at: row.offset) { faults.append(fault) }
        current = PendingPicture()
        current.begin(at: row.offset)
        current.notice = notice
    }

    /// Takes a NAL unit without its start code, and completes its row.
    mutating func add(
        _ bytes: ArraySlice<UInt8>, to row: inout InspectedMessage, isLegacy: Bool, arrival: MonotonicTime?
    ) {
        newSequence = nil
        begin(row.epoch, at: row.offset)
        self.isLegacy = isLegacy
        if !isLegacy, let time = row.captureTime, let pending = current.captureTime, time != pending {
            endUnfinished(at: row.offset)
        }
        if let (nalUnit, header) = read(bytes, at: row.offset) {
            row.nalUnitType = header.type
            row.referenceIDC = header.referenceIDC
            add(nalUnit, header.type, &row, arrival)
        } else {
            current.leaveOut()
        }
        lastArrival = arrival
        if !isLegacy, row.endsFrame { complete(at: row.offset, endsWithThis: true) }
    }

    /// Ends the stream.
    mutating func end(at offset: UInt64) {
        newSequence = nil
        guard !current.isEmpty else { return }
        if isLegacy, current.hasSlice {
            complete(at: offset)
        } else {
            fault(
                .unfinishedAccessUnit, at: current.offset,
                "the stream ends inside the access unit that begins here")
            current = PendingPicture()
        }
    }

    /// Begins another connection, which has its own parameter sets.
    mutating func connectionBegins(at offset: UInt64) {
        newSequence = nil
        if isLegacy, current.hasSlice { complete(at: offset) }
        reset()
        epoch = 0
    }

    /// Handles missing data: the picture that it was part of can't be checked.
    mutating func tear() {
        newSequence = nil
        // A legacy stream doesn't mark the end of a picture, so the part that is there counts as a picture.
        if isLegacy, current.hasSlice { complete(at: current.offset) }
        current = PendingPicture()
        lastSlice = nil
        succession.tear()
    }

    // MARK: NAL units

    private mutating func read(
        _ bytes: ArraySlice<UInt8>, at offset: UInt64
    ) -> (ArraySlice<UInt8>, NALUnitHeader)? {
        // A zero byte at the end is trailing_zero_8bits (section 7.4.1).
        var nalUnit = bytes
        while nalUnit.count > 1, nalUnit.last == 0 { nalUnit = nalUnit.dropLast() }
        guard let first = nalUnit.first else {
            fault(.invalidNALUnit, at: offset, "an empty NAL unit")
            return nil
        }
        guard let header = NALUnitHeader(first) else {
            fault(.forbiddenBit, at: offset, "the NAL unit's forbidden_zero_bit is set")
            return nil
        }
        return (nalUnit, header)
    }

    private mutating func add(
        _ nalUnit: ArraySlice<UInt8>, _ type: NALUnitType, _ row: inout InspectedMessage, _ arrival: MonotonicTime?
    ) {
        if type.isUnspecified || nalUnit.count < 2 && type.isSlice {
            fault(
                .invalidNALUnit, at: row.offset,
                type.isUnspecified
                    ? "a NAL unit of type \(type.rawValue), which no encoder sends"
                    : "a slice without a byte of content"
            )
            current.leaveOut()
            return
        }
        if isLegacy, type.startsAccessUnit {
            if current.hasSlice { complete(at: row.offset) }
            lastSlice = nil
        }
        if type.isParameterSet {
            store(nalUnit, type, at: row.offset)
        } else if type.beginsWithSliceHeader {
            guard addSlice(nalUnit, &row, arrival) else { return current.leaveOut() }
        } else if type.isSlice {
            row.picture = current.slices > 0 ? current.number : nil
        }
        current.begin(at: row.offset)
        current.append(row, type)
    }

    private mutating func store(_ nalUnit: ArraySlice<UInt8>, _ type: NALUnitType, at offset: UInt64) {
        do {
            try sets.insert(nalUnit)
            if type == .sequenceParameterSet { newSequence = sets.latestSequence }
        } catch {
            fault(.invalidNALUnit, at: offset, "the \(type) can't be read: \(error)")
        }
    }

    /// Adds a slice, and returns whether it belongs to a picture.
    private mutating func addSlice(
        _ nalUnit: ArraySlice<UInt8>, _ row: inout InspectedMessage, _ arrival: MonotonicTime?
    ) -> Bool {
        let slice: SliceHeader
        do {
            slice = try SliceHeader(nalUnit: nalUnit, parameterSets: sets)
        } catch {
            if case .missingParameterSet(let kind, let id) = error {
                fault(.missingParameterSet, at: row.offset, "the slice refers to \(kind) \(id), which was not sent")
            } else {
                fault(.invalidNALUnit, at: row.offset, "the slice header can't be read: \(error)")
            }
            return false
        }
        row.slice = slice
        if isLegacy, let lastSlice {
            if isFirstOfNewPicture(previous: lastSlice, next: slice) {
                if current.hasSlice { complete(at: row.offset) }
            } else if let lastArrival, let arrival, arrival - lastArrival > FrameAssembler.legacyTimeout {
                fault(
                    .lateSlice, at: row.offset,
                    "the slice came \((arrival - lastArrival).milliseconds) ms after the rest of its picture")
            }
        }
        lastSlice = slice
        let coded = readWhole(nalUnit, at: row.offset)
        row.qp = coded?.qp
        if current.slices == 0 { beginPicture(slice, coded, row) }
        row.picture = current.number
        current.add(slice, coded?.qp)
        return true
    }

    private mutating func readWhole(_ nalUnit: ArraySlice<UInt8>, at offset: UInt64) -> CodedSlice? {
        do {
            return try CodedSlice(nalUnit: nalUnit, parameterSets: sets)
        } catch {
            fault(.invalidNALUnit, at: offset, "the slice header can't be read to its end: \(error)")
            return nil
        }
    }

    /// Begins a picture with its first slice.
    private mutating func beginPicture(_ slice: SliceHeader, _ coded: CodedSlice?, _ row: InspectedMessage) {
        current.number = nextNumber
        nextNumber &+= 1
        current.slice = slice
        if current.number == 0, !slice.isIDR {
            fault(.startsWithoutIDR, at: row.offset, "the first picture is not an IDR picture")
        }
        guard let sequence = sets.sequenceParameterSet(slice.sequenceParameterSetID) else { return }
        let macroblocks = (sequence.codedSize.width / 16) * (sequence.codedSize.height / 16)
        if slice.firstMacroblock >= macroblocks {
            fault(
                .invalidNALUnit, at: row.offset,
                "the slice begins at macroblock \(slice.firstMacroblock) of a picture that has \(macroblocks)")
        }
        faults += succession.faults(of: slice, sequence, clears: coded?.clearsReferences ?? false, row)
        if let coded { current.orderCount = order.place(of: coded, sequence: sequence).count }
    }

    // MARK: Ends

    private mutating func begin(_ newEpoch: UInt64, at offset: UInt64) {
        guard newEpoch != epoch else { return }
        reset()
        epoch = newEpoch
    }

    private mutating func reset() {
        if !current.isEmpty {
            fault(.cutOffAccessUnit, at: current.offset, "a new start of capture cut this access unit off")
        }
        current = PendingPicture()
        sets = ParameterSets()
        succession = PictureSuccession()
        lastSlice = nil
        lastArrival = nil
    }

    private mutating func endUnfinished(at offset: UInt64) {
        guard !current.isEmpty, current.hasSlice || current.notice != nil else { return }
        if !isLegacy, current.hasSlice {
            fault(.missingEnd, at: current.offset, "no NAL unit says that it is the last of this access unit")
        }
        complete(at: offset)
    }

    private mutating func complete(at offset: UInt64, endsWithThis: Bool = false) {
        let pending = current
        current = PendingPicture()
        guard pending.hasSlice else {
            // What was left out has already been reported.
            if pending.hasLeftOut { return }
            fault(.emptyAccessUnit, at: pending.isEmpty ? offset : pending.offset, "an access unit without a slice")
            return
        }
        if pending.isOversized {
            fault(
                .oversizedAccessUnit, at: pending.offset,
                "an access unit of \(pending.size) bytes and \(pending.nalUnits) NAL units; a host takes at most "
                    + "\(AccessUnitBuilder.byteLimit) bytes and \(AccessUnitBuilder.nalUnitLimit) NAL units")
        }
        guard pending.slices > 0 else { return }
        if !pending.hasFirstMacroblock {
            fault(
                .incompletePicture, at: pending.offset,
                "no slice of picture \(pending.number) begins at its first macroblock: a slice is missing")
        }
        if endsWithThis { endedBehind.append(pending.picture) } else { endedBefore.append(pending.picture) }
    }
}
