public import CaptureLink
import H264

/// Splits the bytes of a connection, or of a raw dump of one, into messages that stay as they passed.
///
/// Takes the same messages as the host's `MessageDecoder`, with the same limits, but reads only their headers, and keeps
/// those of unknown kinds. Push bytes, then call `next()` until it gives nil: more bytes are needed, or there is a `fault`.
/// `goOn()` looks for a likely message behind it. No thread and no lock.
public struct LinkMessageSplitter: Sendable {
    /// The form of the connection; nil until its first message has told.
    public private(set) var form: LinkForm?
    /// Why nothing more is read; nil while all is well.
    public private(set) var fault: LinkError?
    /// Where the next message begins: the end of all that was given.
    public private(set) var offset: UInt64
    /// How many bytes of a message are kept that is not yet whole; those that `next()` has not looked at are the caller's still.
    public var unfinishedBytes: Int { collected.count }
    /// Those, and what `next()` has not looked at.
    var keptBytes: Int { input.count + collected.count }

    /// What a peer may send at most; other limits count from the next message on.
    public var limits: LinkLimits
    private var input: InputBytes
    private var collected: [UInt8] = []
    /// How many bytes the message has that `collected` is the beginning of, once its header was read.
    private var wanted: Int?
    private var isFinished = false
    private var isSearching = false
    /// Bytes before this place were put back once, and are not a second time: searching takes no longer than the file's
    /// length allows.
    private var searchedTo: UInt64 = 0

    /// A splitter at a connection's first byte, or at `offset` in one whose form is known.
    public init(at offset: UInt64 = 0, form: LinkForm? = nil, limits: LinkLimits = LinkLimits()) {
        self.limits = limits
        self.form = form
        self.offset = offset
        input = InputBytes(offset: offset)
    }

    /// Takes the next bytes. They are copied, and let go, by the calls of `next()` up to the one that gives nil without a fault.
    public mutating func push(_ bytes: ArraySlice<UInt8>) { input.push(bytes) }

    /// There are no more bytes: what is cut short is a fault from now on.
    public mutating func finish() { isFinished = true }

    /// The next message; nil where more bytes are needed, at the end, and at a fault.
    public mutating func next() -> LinkBytes? {
        while fault == nil {
            if isSearching {
                guard search() else { return nil }
                isSearching = false
            }
            do throws(LinkError) {
                if wanted == nil { try readHeader() }
                guard let wanted, let form, input.fill(&collected, to: wanted) else {
                    if isFinished, !collected.isEmpty { throw endedInside() }
                    return nil
                }
                return try message(form)
            } catch {
                fault = error
            }
        }
        return nil
    }

    /// Goes on behind a fault: `next()` looks for the next place that looks like a message.
    public mutating func goOn() {
        guard fault != nil else { return }
        fault = nil
        // The first byte is that of the message at fault; behind it a message may begin anywhere.
        if collected.isEmpty {
            input.drop(1)
        } else if wanted == nil || offset >= searchedTo {
            if wanted != nil { searchedTo = input.offset }
            input.putBack(collected.dropFirst())
        }
        collected = []
        wanted = nil
        isSearching = true
    }

    private mutating func message(_ form: LinkForm) throws(LinkError) -> LinkBytes? {
        guard let message = LinkBytes(collected, form: form) else { return nil }
        if message.header.kind == .nalUnit, !message.payload.starts(with: AnnexB.startCode) {
            throw .startCodeMissing(offset: offset)
        }
        collected = []
        wanted = nil
        offset = input.offset
        return message
    }

    private func endedInside() -> LinkError {
        let least = wanted ?? (form?.headerCount ?? FormDetection.firstLook)
        return .endedInsideMessage(offset: offset, missing: max(1, least - collected.count))
    }

    private mutating func readHeader() throws(LinkError) {
        if collected.isEmpty, let first = input.piece.first, first != MessageHeader.marker {
            throw .notAMessage(offset: offset, found: first)
        }
        if form == nil {
            guard input.fill(&collected, to: FormDetection.firstLook) else { return }
            form = FormDetection.form(of: collected)
            if form == nil, input.fill(&collected, to: LinkForm.legacy40.headerCount) {
                form = FormDetection.form(of: collected)
            }
        }
        guard let form, input.fill(&collected, to: form.headerCount),
            let header = MessageHeader(decoding: collected[...], form: form)
        else { return }
        try check(header)
        let count = form.headerCount + Int(clamping: header.length)
        collected.reserveCapacity(count)
        wanted = count
    }

    /// A length is compared with its limit before anything is reserved for it.
    private func check(_ header: MessageHeader) throws(LinkError) {
        let length = header.length
        if header.kind == .nalUnit {
            guard length >= 5 else { throw .nalUnitTooShort(length: length, offset: offset) }
            guard length <= UInt64(limits.nalUnit) else {
                throw .nalUnitTooLong(length: length, limit: limits.nalUnit, offset: offset)
            }
        } else if length > UInt64(limits.controlMessage) {
            throw .controlMessageTooLong(
                kindCode: header.kindCode, length: length, limit: limits.controlMessage, offset: offset)
        }
    }

    /// Looks for bytes that could be a message; puts the input there, and says whether it found some.
    private mutating func search() -> Bool {
        while true {
            let piece = input.piece
            input.drop((piece.firstIndex(of: MessageHeader.marker) ?? piece.endIndex) - piece.startIndex)
            offset = input.offset
            if input.isEmpty { return false }
            guard input.piece.first == MessageHeader.marker else { continue }
            // Header, start code, NAL unit header; a message at the file's end may be shorter.
            var candidate: [UInt8] = []
            let isWhole = input.fill(&candidate, to: LinkForm.extended.headerCount + 5)
            guard isWhole || isFinished else {
                input.putBack(candidate[...])
                return false
            }
            let isLikely = isLikelyMessage(candidate)
            if isLikely {
                input.putBack(candidate[...])
                offset = input.offset
                return true
            }
            input.putBack(candidate.dropFirst())
        }
    }

    private mutating func isLikelyMessage(_ bytes: [UInt8]) -> Bool {
        let forms: [LinkForm] = form.map { [$0] } ?? [.legacy16, .extended, .legacy40]
        for form in forms where isLikelyMessage(bytes, form) {
            self.form = form
            return true
        }
        return false
    }

    private func isLikelyMessage(_ bytes: [UInt8], _ form: LinkForm) -> Bool {
        guard let header = MessageHeader(decoding: bytes[...], form: form), (try? check(header)) != nil else {
            return false
        }
        guard form == .extended, header.kind != .nalUnit else {
            let payload = bytes.dropFirst(form.headerCount)
            guard payload.starts(with: AnnexB.startCode), let first = payload.dropFirst(4).first else { return false }
            return NALUnitHeader(first).map { !$0.type.isUnspecified } ?? false
        }
        // Four reserved zeros, and an epoch: little else of a control message can be relied on.
        return bytes[4..<8].allSatisfy { $0 == 0 } && bytes[32..<40].contains { $0 != 0 }
            && (header.kind != nil || header.kindCode == MessageEncoder.sourceBytesKind)
    }
}
