public import CaptureLink

/// Reads one format of file for ``RecordedStream``, which documents the members that both have.
protocol RecordedReader: Sendable {
    var fault: RecordingError? { get }
    var offset: UInt64 { get }
    var keptBytes: Int { get }

    mutating func push(_ bytes: ArraySlice<UInt8>)
    mutating func finish()
    mutating func next() -> RecordedItem?
    mutating func resumeAfterDamage()
    /// Creates a reader of the same file that begins at `offset`.
    func restarted(at offset: UInt64) -> Self
}

/// Reads a recording, a raw dump or an Annex B file as one sequence of items. The bytes may come in pieces of any size.
///
/// Push bytes, then call `next()` until it returns nil, which means that more bytes are needed, that the end was
/// reached, or that there is a `fault`. Uses no threads, no locks and no I/O.
public struct RecordedStream: Sendable {
    /// The format of the file.
    public let form: RecordedForm
    private var reader: any RecordedReader

    /// Creates a stream of this format at its first byte.
    public init(form: RecordedForm) {
        self.form = form
        reader =
            switch form {
            case .recording: RecordingReader()
            case .dump: DumpReader()
            case .annexB: AnnexBReader()
            }
    }

    /// The recording's header once it has been read. Nil for other formats, and if the header is damaged.
    public var header: RecordingHeader? { (reader as? RecordingReader)?.header }

    /// The form of a dump's messages, once the first of them has been recognized.
    public var linkForm: HeaderFormat? { (reader as? DumpReader)?.splitter.form }

    /// The reason why reading stopped; nil if there is no fault.
    public var fault: RecordingError? { reader.fault }

    /// The offset at which the next item begins, which is the end of the last item returned.
    public var offset: UInt64 { reader.offset }

    /// Whether a recording's end record has been read, which says that nothing is missing at its end. Dumps and Annex B
    /// files have no such record.
    public var hasEnd: Bool { (reader as? RecordingReader)?.hasEnd ?? false }

    /// The number of bytes that are kept but not yet part of an item.
    public var keptBytes: Int { reader.keptBytes }

    /// Discards all pushed bytes. The next bytes must be those at `offset`, where an item begins.
    public mutating func restart(at offset: UInt64) { reader = reader.restarted(at: offset) }

    /// Adds the next bytes of the file.
    public mutating func push(_ bytes: ArraySlice<UInt8>) { reader.push(bytes) }

    /// Marks the end of the bytes. From now on, an incomplete item is a fault.
    public mutating func finish() { reader.finish() }

    /// The next item. Nil if more bytes are needed, at the end, and at a fault.
    public mutating func next() -> RecordedItem? { reader.next() }

    /// Continues after a fault: `next()` returns the next complete item. The bytes that were left out are those from
    /// the fault's offset to that item's offset, or to the end of the file.
    public mutating func resumeAfterDamage() { reader.resumeAfterDamage() }
}

/// Reads a raw dump.
private struct DumpReader: RecordedReader {
    var splitter = LinkMessageSplitter()

    var fault: RecordingError? { splitter.fault.map { .link($0) } }
    var offset: UInt64 { splitter.offset }
    var keptBytes: Int { splitter.keptBytes }

    mutating func push(_ bytes: ArraySlice<UInt8>) { splitter.push(bytes) }
    mutating func finish() { splitter.finish() }
    mutating func resumeAfterDamage() { splitter.resumeAfterDamage() }

    mutating func next() -> RecordedItem? {
        guard let message = splitter.next() else { return nil }
        let count = UInt64(message.bytes.count)
        return RecordedItem(
            offset: splitter.offset &- count, byteCount: count, arrival: nil, content: .message(message, .toHost))
    }

    func restarted(at offset: UInt64) -> DumpReader {
        DumpReader(splitter: LinkMessageSplitter(at: offset, form: offset == 0 ? nil : splitter.form))
    }
}
