public import CaptureLink

/// Reads a recording, a raw dump or an Annex B file as one sequence of items. The bytes may come in pieces of any size.
///
/// Push bytes, then call `next()` until it returns nil, which means that more bytes are needed, that the end was
/// reached, or that there is a `fault`. Uses no threads, no locks and no I/O.
public struct RecordedStream: Sendable {
    private enum Reader {
        case recording(RecordingReader)
        case dump(LinkMessageSplitter)
        case annexB(AnnexBReader)
    }

    /// The format of the file.
    public let form: RecordedForm
    private var reader: Reader

    /// Creates a stream of this format at its first byte.
    public init(form: RecordedForm) {
        self.form = form
        reader =
            switch form {
            case .recording: .recording(RecordingReader())
            case .dump: .dump(LinkMessageSplitter())
            case .annexB: .annexB(AnnexBReader())
            }
    }

    /// The recording's header once it has been read. Nil for other formats, and if the header is damaged.
    public var header: RecordingHeader? {
        if case .recording(let reader) = reader { reader.header } else { nil }
    }

    /// The form of a dump's messages, once the first of them has been recognized.
    public var linkForm: LinkForm? {
        if case .dump(let splitter) = reader { splitter.form } else { nil }
    }

    /// The reason why reading stopped; nil if there is no fault.
    public var fault: RecordingFault? {
        switch reader {
        case .recording(let reader): reader.fault
        case .dump(let splitter): splitter.fault.map { .link($0) }
        case .annexB(let reader): reader.fault
        }
    }

    /// The offset at which the next item begins, which is the end of the last item returned.
    public var offset: UInt64 {
        switch reader {
        case .recording(let reader): reader.offset
        case .dump(let splitter): splitter.offset
        case .annexB(let reader): reader.offset
        }
    }

    /// Whether a recording's end record has been read, which says that nothing is missing at its end. Dumps and Annex B
    /// files have no such record.
    public var hasEnd: Bool {
        if case .recording(let reader) = reader { reader.hasEnd } else { false }
    }

    /// The number of bytes that are kept but not yet part of an item.
    public var keptBytes: Int {
        switch reader {
        case .recording(let reader): reader.keptBytes
        case .dump(let splitter): splitter.keptBytes
        case .annexB(let reader): reader.keptBytes
        }
    }

    /// Discards all pushed bytes. The next bytes must be those at `offset`, where an item begins.
    public mutating func restart(at offset: UInt64) {
        switch reader {
        case .recording(let old):
            reader = .recording(offset == 0 ? RecordingReader() : RecordingReader(at: offset, header: old.header))
        case .dump(let old):
            reader = .dump(LinkMessageSplitter(at: offset, form: offset == 0 ? nil : old.form))
        case .annexB: reader = .annexB(AnnexBReader(at: offset))
        }
    }

    /// Adds the next bytes of the file.
    public mutating func push(_ bytes: ArraySlice<UInt8>) {
        switch reader {
        case .recording(var inner):
            release()
            inner.push(bytes)
            reader = .recording(inner)
        case .dump(var inner):
            release()
            inner.push(bytes)
            reader = .dump(inner)
        case .annexB(var inner):
            release()
            inner.push(bytes)
            reader = .annexB(inner)
        }
    }

    /// Marks the end of the bytes. From now on, an incomplete item is a fault.
    public mutating func finish() {
        switch reader {
        case .recording(var inner):
            inner.finish()
            reader = .recording(inner)
        case .dump(var inner):
            inner.finish()
            reader = .dump(inner)
        case .annexB(var inner):
            inner.finish()
            reader = .annexB(inner)
        }
    }

    /// The next item. Nil if more bytes are needed, at the end, and at a fault.
    public mutating func next() -> RecordedItem? {
        switch reader {
        case .recording(var inner):
            release()
            defer { reader = .recording(inner) }
            return inner.next()
        case .dump(var inner):
            release()
            defer { reader = .dump(inner) }
            guard let message = inner.next() else { return nil }
            let count = UInt64(message.bytes.count)
            return RecordedItem(
                offset: inner.offset &- count, byteCount: count, arrival: nil,
                content: .message(message, .toHost))
        case .annexB(var inner):
            release()
            defer { reader = .annexB(inner) }
            return inner.next()
        }
    }

    /// Continues after a fault: `next()` returns the next complete item. The bytes that were left out are those from
    /// the fault's offset to that item's offset, or to the end of the file.
    public mutating func goOn() {
        switch reader {
        case .recording(var inner):
            inner.goOn()
            reader = .recording(inner)
        case .dump(var inner):
            inner.goOn()
            reader = .dump(inner)
        case .annexB(var inner):
            inner.goOn()
            reader = .annexB(inner)
        }
    }

    /// Drops the reader while a copy of it is being changed, so that its bytes aren't copied.
    private mutating func release() { reader = .annexB(AnnexBReader()) }
}
