import ByteCoding
import CaptureLink
import MediaTypes

/// Reads a recording, in pieces of any size, as its items.
///
/// Push bytes, then call `next()` until it gives nil: that means more bytes are needed, the file's end was reached, or there
/// is a `fault`. Everything whole before a fault is given; `goOn()` looks for the next whole record behind it. A length is
/// checked before a byte is reserved, so that the reader holds one message at most. No thread and no lock.
public struct RecordingReader: Sendable {
    /// The file's header, once it was read.
    public private(set) var header: RecordingHeader?
    /// Why nothing more is read, and where the whole part ends; nil while all is well.
    public private(set) var fault: RecordingFault?
    /// Whether the last record was the one that says that nothing is missing at the end.
    public private(set) var hasEnd = false
    /// Where the next item would begin: the end of all that was given.
    public private(set) var offset: UInt64

    private enum State {
        case fileHeader
        case recordHeader
        case content(RecordHeader)
        /// Looking for a record behind a fault.
        case searching
    }

    private var state: State
    private var input: InputBytes
    private var collected: [UInt8] = []
    private var isFinished = false
    /// Bytes before this place were put back once: they are searched, but no second time, so that no file, however made,
    /// takes longer than its length allows.
    private var searchedTo: UInt64 = 0

    /// How many bytes are kept of which no item has been made yet.
    var keptBytes: Int { input.count + collected.count }

    /// A reader at the file's first byte.
    public init() {
        state = .fileHeader
        input = InputBytes(offset: 0)
        offset = 0
    }

    /// A reader at the record that begins at `offset`, in a file with this header (nil where it was damaged).
    public init(at offset: UInt64, header: RecordingHeader?) {
        state = .recordHeader
        input = InputBytes(offset: offset)
        self.offset = offset
        self.header = header
    }

    /// Takes the next bytes of the file. The header is there as soon as its bytes are.
    public mutating func push(_ bytes: ArraySlice<UInt8>) {
        input.push(bytes)
        guard case .fileHeader = state, fault == nil else { return }
        do throws(RecordingFault) {
            _ = try readFileHeader()
        } catch {
            fault = error
        }
    }

    /// There are no more bytes: what is cut short is a fault from now on.
    public mutating func finish() { isFinished = true }

    /// The next item; nil where more bytes are needed, at the end, and at a fault.
    public mutating func next() -> RecordedItem? {
        while fault == nil {
            do throws(RecordingFault) {
                let (isDone, item) = try step()
                if item != nil || isDone { return item }
            } catch {
                fault = error
            }
        }
        return nil
    }

    /// Goes on behind a fault: `next()` looks for the next whole record. What was left out is from the fault's offset to the
    /// offset of the item that comes then, or to the file's end.
    public mutating func goOn() {
        guard let fault else { return }
        self.fault = nil
        if case .malformedRecord = fault { return beginRecord() }
        if case .content = state {
            // Its header was right: a record may stand in its content only where bytes were lost or put in.
            if offset >= searchedTo {
                searchedTo = input.offset
                input.putBack(collected[...])
            }
        } else {
            // The first byte can't begin a record; all others might.
            input.putBack(collected.dropFirst())
        }
        collected = []
        state = .searching
    }

    /// One step; `isDone` where nothing more can be done with the bytes that are there.
    private mutating func step() throws(RecordingFault) -> (isDone: Bool, item: RecordedItem?) {
        switch state {
        case .fileHeader: (try readFileHeader(), nil)
        case .recordHeader: (try readRecordHeader(), nil)
        case .content(let header): try readContent(of: header)
        case .searching: (search(), nil)
        }
    }

    private mutating func readFileHeader() throws(RecordingFault) -> Bool {
        var isWhole = input.fill(&collected, to: RecordingHeader.frontCount)
        if isWhole { isWhole = input.fill(&collected, to: try RecordingHeader.count(front: collected)) }
        guard isWhole else {
            if isFinished { throw collected.isEmpty ? .empty : .cutInFileHeader(count: collected.count) }
            return true
        }
        header = try RecordingHeader(decoding: collected)
        beginRecord()
        return false
    }

    private mutating func readRecordHeader() throws(RecordingFault) -> Bool {
        let isWhole = input.fill(&collected, to: RecordHeader.count)
        let marker = RecordHeader.marker.prefix(collected.count)
        guard collected.starts(with: marker) else { throw .recordMarkerMissing(offset: offset) }
        guard isWhole else {
            if isFinished, !collected.isEmpty {
                throw .cutInRecordHeader(offset: offset, missing: RecordHeader.count - collected.count)
            }
            return true
        }
        guard let header = RecordHeader(decoding: collected) else { throw .recordHeaderCheck(offset: offset) }
        try begin(header)
        return false
    }

    /// Checks the length against its limit before anything is reserved for it.
    private mutating func begin(_ header: RecordHeader) throws(RecordingFault) {
        guard header.length <= UInt32(clamping: header.limit) else {
            throw .recordTooLong(offset: offset, length: header.length, limit: header.limit)
        }
        collected = []
        collected.reserveCapacity(Int(header.length))
        state = .content(header)
    }

    private mutating func readContent(
        of header: RecordHeader
    ) throws(RecordingFault) -> (isDone: Bool, item: RecordedItem?) {
        let length = Int(header.length)
        guard input.fill(&collected, to: length) else {
            if isFinished { throw .cutInRecord(offset: offset, missing: length - collected.count) }
            return (true, nil)
        }
        guard CRC32.of(collected[...]) == header.contentCheck else { throw .recordCheck(offset: offset) }
        guard let content = try content(of: header) else {
            beginRecord()
            return (false, nil)
        }
        let item = RecordedItem(
            offset: offset, byteCount: UInt64(RecordHeader.count + length),
            arrival: Interval(nanoseconds: Int64(clamping: header.arrival)), content: content)
        beginRecord()
        hasEnd = content == .end
        return (false, item)
    }

    private mutating func beginRecord() {
        collected = []
        offset = input.offset
        state = .recordHeader
        hasEnd = false
    }

    /// What a record holds; nil for a kind that this version doesn't know.
    private mutating func content(of header: RecordHeader) throws(RecordingFault) -> RecordedItem.Content? {
        switch header.kind {
        case .message:
            guard let form = header.form else {
                throw .malformedRecord(offset: offset, problem: "it has no form that a link's header can have")
            }
            guard let message = LinkBytes(collected, form: form) else {
                throw .malformedRecord(offset: offset, problem: "its message has no header, or another length")
            }
            return .message(message, header.direction)
        case .connection: return .connection
        case .gap:
            var reader = ByteReader(collected)
            guard let messages = reader.uint64LittleEndian(), let bytes = reader.uint64LittleEndian(),
                let from = reader.uint64LittleEndian(), let to = reader.uint64LittleEndian()
            else { throw .malformedRecord(offset: offset, problem: "a gap needs 32 bytes, not \(collected.count)") }
            return .gap(
                RecordingGap(
                    messages: messages, bytes: bytes, from: Interval(nanoseconds: Int64(clamping: from)),
                    to: Interval(nanoseconds: Int64(clamping: to))))
        case .end: return .end
        case nil: return nil
        }
    }

    /// Looks for a record whose header has the right check. Says whether it needs more bytes for that.
    private mutating func search() -> Bool {
        while true {
            if collected.isEmpty, let first = RecordHeader.marker.first {
                let piece = input.piece
                input.drop((piece.firstIndex(of: first) ?? piece.endIndex) - piece.startIndex)
                offset = input.offset
                if input.isEmpty { return true }
                if input.piece.first != first { continue }
            }
            guard input.fill(&collected, to: RecordHeader.count) else {
                if isFinished {
                    // Too few bytes for a record are none, whatever they begin with.
                    collected = []
                    offset = input.offset
                }
                return true
            }
            if let header = RecordHeader(decoding: collected), header.length <= UInt32(clamping: header.limit) {
                collected = []
                collected.reserveCapacity(Int(header.length))
                state = .content(header)
                return false
            }
            input.putBack(collected.dropFirst())
            collected = []
        }
    }
}
