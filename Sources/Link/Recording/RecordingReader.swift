import ByteCoding
import CaptureLink
import MediaTypes

/// Reads a recording as a sequence of items. The bytes may come in pieces of any size.
///
/// Push bytes, then call `next()` until it returns nil, which means that more bytes are needed, that the end of the
/// file was reached, or that there is a `fault`. All complete items before a fault are returned; `resumeAfterDamage()`
/// searches for the next complete record after it. Lengths are checked before memory is reserved, so the reader holds
/// at most one message. Uses no threads and no locks.
public struct RecordingReader: RecordedReader {
    /// The file's header, once it has been read.
    public private(set) var header: RecordingHeader?
    /// The reason why reading stopped, and where the complete part ends; nil if there is no fault.
    public private(set) var fault: RecordingError?
    /// Whether the last record was the end record, which says that nothing is missing at the end.
    public private(set) var hasEnd = false
    /// The offset at which the next item begins, which is the end of the last item returned.
    public private(set) var offset: UInt64

    private enum State {
        case fileHeader
        case recordHeader
        case content(RecordHeader)
        /// Searching for a record after a fault.
        case searching
    }

    private var state: State
    private var input: InputBytes
    private var collected: [UInt8] = []
    private var isFinished = false
    /// Bytes before this offset have been put back once. They are searched but not put back again, so that the search
    /// time stays linear for every file.
    private var searchedTo: UInt64 = 0

    /// The number of bytes that are kept but not yet part of an item.
    var keptBytes: Int { input.count + collected.count }

    /// Creates a reader at the file's first byte.
    public init() {
        state = .fileHeader
        input = InputBytes(offset: 0)
        offset = 0
    }

    /// Creates a reader at the record that begins at `offset`, in a file with this header (nil if the header was
    /// damaged).
    public init(at offset: UInt64, header: RecordingHeader?) {
        state = .recordHeader
        input = InputBytes(offset: offset)
        self.offset = offset
        self.header = header
    }

    func restarted(at offset: UInt64) -> RecordingReader {
        offset == 0 ? RecordingReader() : RecordingReader(at: offset, header: header)
    }

    /// Adds the next bytes of the file. The header is available as soon as its bytes are.
    public mutating func push(_ bytes: ArraySlice<UInt8>) {
        input.push(bytes)
        guard case .fileHeader = state, fault == nil else { return }
        do throws(RecordingError) {
            _ = try readFileHeader()
        } catch {
            fault = error
        }
    }

    /// Marks the end of the bytes. From now on, an incomplete record is a fault.
    public mutating func finish() { isFinished = true }

    /// The next item. Nil if more bytes are needed, at the end, and at a fault.
    public mutating func next() -> RecordedItem? {
        while fault == nil {
            do throws(RecordingError) {
                let (isDone, item) = try step()
                if item != nil || isDone { return item }
            } catch {
                fault = error
            }
        }
        return nil
    }

    /// Continues after a fault: `next()` searches for the next complete record. The bytes that were left out are those
    /// from the fault's offset to that record's offset, or to the end of the file.
    public mutating func resumeAfterDamage() {
        guard let fault else { return }
        self.fault = nil
        if case .malformedRecord = fault { return beginRecord() }
        if case .content = state {
            // The record's header was valid, so another record can be inside its content only if bytes were lost or
            // inserted.
            if offset >= searchedTo {
                searchedTo = input.offset
                input.putBack(collected[...])
            }
        } else {
            // The first byte can't begin a record, but any later byte might.
            input.putBack(collected.dropFirst())
        }
        collected = []
        state = .searching
    }

    /// Takes one step; `isDone` is true if nothing more can be done with the available bytes.
    private mutating func step() throws(RecordingError) -> (isDone: Bool, item: RecordedItem?) {
        switch state {
        case .fileHeader: (try readFileHeader(), nil)
        case .recordHeader: (try readRecordHeader(), nil)
        case .content(let header): try readContent(of: header)
        case .searching: (search(), nil)
        }
    }

    private mutating func readFileHeader() throws(RecordingError) -> Bool {
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

    private mutating func readRecordHeader() throws(RecordingError) -> Bool {
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

    /// Checks the length against its limit before any memory is reserved for it.
    private mutating func begin(_ header: RecordHeader) throws(RecordingError) {
        guard header.length <= UInt32(clamping: header.limit) else {
            throw .recordTooLong(offset: offset, length: header.length, limit: header.limit)
        }
        collected = []
        collected.reserveCapacity(Int(header.length))
        state = .content(header)
    }

    private mutating func readContent(
        of header: RecordHeader
    ) throws(RecordingError) -> (isDone: Bool, item: RecordedItem?) {
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

    /// The content of a record; nil for a kind that this version doesn't know.
    private mutating func content(of header: RecordHeader) throws(RecordingError) -> RecordedItem.Content? {
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

    /// Searches for a record whose header has the right checksum. Returns whether it needs more bytes.
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
                    // There are too few bytes for a record, whatever they begin with.
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
