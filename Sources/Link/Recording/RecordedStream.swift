public import CaptureLink

/// Reads a recording, a raw dump or an Annex B file, in pieces of any size, as one sequence of items.
///
/// Push bytes, then call `next()` until it gives nil: more bytes are needed, the end was reached, or there is a `fault`.
/// No thread, no lock and no I/O.
public struct RecordedStream: Sendable {
    private enum Reader {
        case recording(RecordingReader)
        case dump(LinkMessageSplitter)
        case annexB(AnnexBReader)
    }

    /// Which of the three it is.
    public let form: RecordedForm
    private var reader: Reader

    /// A stream of this form, at its first byte.
    public init(form: RecordedForm) {
        self.form = form
        reader =
            switch form {
            case .recording: .recording(RecordingReader())
            case .dump: .dump(LinkMessageSplitter())
            case .annexB: .annexB(AnnexBReader())
            }
    }

    /// The recording's header, once it was read; nil for other files, and where it is damaged.
    public var header: RecordingHeader? {
        if case .recording(let reader) = reader { reader.header } else { nil }
    }

    /// The form of a dump's messages, once the first of them has told.
    public var linkForm: LinkForm? {
        if case .dump(let splitter) = reader { splitter.form } else { nil }
    }

    /// Why nothing more is read; nil while all is well.
    public var fault: RecordingFault? {
        switch reader {
        case .recording(let reader): reader.fault
        case .dump(let splitter): splitter.fault.map { .link($0) }
        case .annexB(let reader): reader.fault
        }
    }

    /// The end of all that was given: where the next item would begin.
    public var offset: UInt64 {
        switch reader {
        case .recording(let reader): reader.offset
        case .dump(let splitter): splitter.offset
        case .annexB(let reader): reader.offset
        }
    }

    /// Whether a recording has been read to the record that says that nothing is missing at its end. Dumps and Annex B
    /// files don't say.
    public var hasEnd: Bool {
        if case .recording(let reader) = reader { reader.hasEnd } else { false }
    }

    /// How many bytes are kept of which no item has been made yet.
    public var keptBytes: Int {
        switch reader {
        case .recording(let reader): reader.keptBytes
        case .dump(let splitter): splitter.keptBytes
        case .annexB(let reader): reader.keptBytes
        }
    }

    /// Forgets all that was pushed: the next bytes are those at `offset`, where an item begins.
    public mutating func restart(at offset: UInt64) {
        switch reader {
        case .recording(let old):
            reader = .recording(offset == 0 ? RecordingReader() : RecordingReader(at: offset, header: old.header))
        case .dump(let old):
            reader = .dump(LinkMessageSplitter(at: offset, form: offset == 0 ? nil : old.form))
        case .annexB: reader = .annexB(AnnexBReader(at: offset))
        }
    }

    /// Takes the next bytes of the file.
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

    /// There are no more bytes: what is cut short is a fault from now on.
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

    /// The next item; nil where more bytes are needed, at the end, and at a fault.
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

    /// Goes on behind a fault: `next()` gives what is whole behind it. What was left out is from the fault's offset to the
    /// offset of the item that comes then, or to the file's end.
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

    /// Lets go of the reader while a copy of it is changed, so that its bytes aren't copied.
    private mutating func release() { reader = .annexB(AnnexBReader()) }
}
