import CaptureLink
import H264

/// Splits a byte stream (ITU-T H.264 Annex B) into NAL units such that the stream can be restored byte for byte.
///
/// A file consists of start codes of three bytes, or of four if another zero precedes them, of NAL units, and of zeros.
/// Up to 4096 zeros after a NAL unit stay with it; bytes that belong to no NAL unit become `otherBytes`. Memory is
/// bounded by the largest NAL unit that a message can hold. Uses no threads and no locks.
struct AnnexBReader: RecordedReader {
    /// The most zeros that stay with the NAL unit they follow; the rest become `otherBytes`.
    static let keptZeros = 4096
    /// The most zeros that may precede the first start code.
    static let leadingZeros = 1 << 20
    private static let otherLimit = 32 << 10

    private(set) var fault: RecordingError?
    /// The file offset at which the next item begins, which is the end of the last item returned.
    private(set) var offset: UInt64

    private enum State {
        /// Before the first start code.
        case leading
        /// After the start code that began at `start`.
        case nalUnit(start: UInt64, isShort: Bool)
        /// Outside NAL units; the bytes are kept.
        case between
        /// In a NAL unit that is too long; all of it is dropped.
        case skipping
    }

    private static let largeUnit = 512 << 10
    private static let payloadLimit = LinkLimits().unit
    private var state = State.leading
    private var input: InputBytes
    /// The payload of the current NAL unit, or other bytes.
    private var collected: [UInt8] = []
    /// The number of zeros that were read and not yet assigned.
    private var zeros = 0
    private var ready: [RecordedItem] = []
    private var isFinished = false

    /// The number of bytes that are kept but not yet part of an item.
    var keptBytes: Int { input.count + collected.count }

    init(at offset: UInt64 = 0) {
        self.offset = offset
        input = InputBytes(offset: offset)
    }

    func restarted(at offset: UInt64) -> AnnexBReader { AnnexBReader(at: offset) }

    mutating func push(_ bytes: ArraySlice<UInt8>) { input.push(bytes) }
    mutating func finish() { isFinished = true }

    mutating func next() -> RecordedItem? {
        while true {
            if !ready.isEmpty { return ready.removeFirst() }
            if fault != nil { return nil }
            do throws(RecordingError) {
                if input.isEmpty {
                    if isFinished { try end() }
                    if ready.isEmpty { return nil }
                } else {
                    try step()
                }
            } catch {
                fault = error
            }
        }
    }

    /// Continues after a fault, at the next start code.
    mutating func resumeAfterDamage() {
        guard fault != nil else { return }
        fault = nil
        collected = []
        state = .skipping
    }

    /// Consumes the zeros at the front of the input, or the bytes before its next zero.
    private mutating func step() throws(RecordingError) {
        let piece = input.piece
        if piece.first == 0 {
            let end = piece.firstIndex { $0 != 0 } ?? piece.endIndex
            zeros += end - piece.startIndex
            input.drop(end - piece.startIndex)
            return try settleZeros()
        }
        if piece.first == 1, zeros >= 2 {
            input.drop(1)
            return beginNALUnit()
        }
        let end = piece.firstIndex(of: 0) ?? piece.endIndex
        try content(piece[..<end])
        input.drop(end - piece.startIndex)
    }

    /// Assigns the zeros that exceed what a start code or the end of a NAL unit can hold.
    private mutating func settleZeros() throws(RecordingError) {
        switch state {
        case .leading:
            if zeros > Self.leadingZeros { throw .startCodeMissing(offset: offset) }
        case .nalUnit:
            guard zeros > Self.keptZeros + 3 else { return }
            let kept = min(Self.keptZeros, max(0, Self.payloadLimit - collected.count))
            endNALUnit(trailing: kept, at: input.offset - UInt64(zeros - kept))
            zeros -= kept
            state = .between
        case .between: flushZeros(keeping: 3)
        case .skipping: zeros = min(zeros, 3)
        }
    }

    /// Consumes bytes that are not zero and don't end a start code.
    private mutating func content(_ bytes: ArraySlice<UInt8>) throws(RecordingError) {
        switch state {
        case .leading: throw .startCodeMissing(offset: offset)
        case .nalUnit(let start, _):
            guard bytes.count <= Self.payloadLimit - collected.count - zeros else {
                throw .unitTooLong(offset: start, limit: Self.payloadLimit)
            }
            // The length is unknown. Growing the array gradually would briefly take up to three times the memory;
            // memory that is reserved but not written takes none.
            if collected.count + zeros + bytes.count > Self.largeUnit { collected.reserveCapacity(Self.payloadLimit) }
            collected.append(contentsOf: repeatElement(0, count: zeros))
            collected.append(contentsOf: bytes)
        case .between:
            flushZeros(keeping: 0)
            var rest = bytes
            while !rest.isEmpty {
                let taken = rest.prefix(Self.otherLimit - collected.count)
                collected.append(contentsOf: taken)
                rest = rest.dropFirst(taken.count)
                if collected.count >= Self.otherLimit { endOther() }
            }
        case .skipping: break
        }
        zeros = 0
    }

    /// Begins a NAL unit after its start code has been read. The zeros before the start code are still counted.
    private mutating func beginNALUnit() {
        let isShort = zeros < 3
        let codeZeros = isShort ? 2 : 3
        let start = input.offset - UInt64(codeZeros + 1)
        let surplus = zeros - codeZeros
        switch state {
        case .nalUnit:
            let kept = min(surplus, Self.keptZeros, max(0, Self.payloadLimit - collected.count))
            endNALUnit(trailing: kept, at: start - UInt64(surplus - kept))
            zeros = surplus - kept
            flushZeros(keeping: 0)
        case .leading, .between:
            zeros = surplus
            flushZeros(keeping: 0)
        case .skipping: break
        }
        if case .skipping = state {} else { endOther() }
        offset = start
        zeros = 0
        collected = AnnexB.startCode
        state = .nalUnit(start: start, isShort: isShort)
    }

    private mutating func end() throws(RecordingError) {
        switch state {
        case .leading: throw .startCodeMissing(offset: offset)
        case .nalUnit:
            let kept = min(zeros, Self.keptZeros, max(0, Self.payloadLimit - collected.count))
            endNALUnit(trailing: kept, at: input.offset - UInt64(zeros - kept))
            zeros -= kept
        case .between: break
        case .skipping: offset = input.offset
        }
        if case .skipping = state {} else { flushZeros(keeping: 0) }
        endOther()
        zeros = 0
        state = .between
    }

    /// Emits the collected NAL unit; `end` is the end of the zeros that stay with it.
    private mutating func endNALUnit(trailing: Int, at end: UInt64) {
        guard case .nalUnit(let start, let isShort) = state else { return }
        collected.append(contentsOf: repeatElement(0, count: trailing))
        if collected.dropFirst(AnnexB.startCode.count).contains(where: { $0 != 0 }) {
            let unit = AnnexBNALUnit(payload: collected, hasShortStartCode: isShort)
            ready.append(
                RecordedItem(offset: start, byteCount: end - start, arrival: nil, content: .nalUnit(unit)))
        } else {
            // This is a start code without a NAL unit, which no message can hold.
            let bytes = isShort ? Array(collected.dropFirst()) : collected
            ready.append(
                RecordedItem(offset: start, byteCount: end - start, arrival: nil, content: .otherBytes(bytes)))
        }
        offset = end
        collected = []
    }

    /// Moves all counted zeros except the last `kept` to the other bytes.
    private mutating func flushZeros(keeping kept: Int) {
        while zeros > kept {
            let count = min(zeros - kept, Self.otherLimit - collected.count)
            collected.append(contentsOf: repeatElement(0, count: count))
            zeros -= count
            if collected.count >= Self.otherLimit { endOther() }
        }
    }

    private mutating func endOther() {
        guard !collected.isEmpty else { return }
        let count = UInt64(collected.count)
        ready.append(RecordedItem(offset: offset, byteCount: count, arrival: nil, content: .otherBytes(collected)))
        offset &+= count
        collected = []
    }
}
