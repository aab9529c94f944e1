public import CaptureLink
import CodecTable
import MediaTypes

/// Splits the bytes of a connection, or of a raw dump of one, into unmodified messages.
///
/// It accepts the same messages as the host's `MessageDecoder`, with the same limits, but reads only their headers and
/// keeps messages of unknown kinds. Push bytes, then call `next()` until it returns nil, which means that more bytes
/// are needed or that there is a `fault`. After a fault, `resumeAfterDamage()` searches for the next likely message.
/// Uses no threads and no locks.
public struct LinkMessageSplitter: Sendable {
    /// The form of the connection; nil until the first message has been recognized.
    public private(set) var form: HeaderFormat?
    /// The reason why reading stopped; nil if there is no fault.
    public private(set) var fault: LinkError?
    /// The offset at which the next message begins, which is the end of the last message returned.
    public private(set) var offset: UInt64
    /// The number of bytes kept of an incomplete message. Doesn't include bytes that `next()` hasn't looked at yet.
    public var unfinishedBytes: Int { collected.count }
    /// The number of bytes kept, including those that `next()` hasn't looked at yet.
    var keptBytes: Int { input.count + collected.count }

    /// The limits for what a peer may send. New limits apply from the next message on.
    public var limits: LinkLimits
    private var input: InputBytes
    private var collected: [UInt8] = []
    /// The length of the message at the beginning of `collected`, once its header has been read.
    private var wanted: Int?
    private var isFinished = false
    private var isSearching = false
    /// Bytes before this offset have been put back once and are not put back again. This keeps the search time linear
    /// in the length of the file.
    private var searchedTo: UInt64 = 0

    /// Creates a splitter at a connection's first byte, or at `offset` in a connection whose form is known.
    public init(at offset: UInt64 = 0, form: HeaderFormat? = nil, limits: LinkLimits = LinkLimits()) {
        self.limits = limits
        self.form = form
        self.offset = offset
        input = InputBytes(offset: offset)
    }

    /// Adds the next bytes. They are copied and released by the calls of `next()` up to the one that returns nil
    /// without a fault.
    public mutating func push(_ bytes: ArraySlice<UInt8>) { input.push(bytes) }

    /// Marks the end of the bytes. From now on, an incomplete message is a fault.
    public mutating func finish() { isFinished = true }

    /// The next message. Nil if more bytes are needed, at the end, and at a fault.
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

    /// Continues after a fault: `next()` searches for the next bytes that look like a message.
    public mutating func resumeAfterDamage() {
        guard fault != nil else { return }
        fault = nil
        // The first byte belongs to the faulty message; the next message may begin anywhere after it.
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

    private mutating func message(_ form: HeaderFormat) throws(LinkError) -> LinkBytes? {
        guard let message = LinkBytes(collected, form: form) else { return nil }
        if message.header.kind == .unit, !message.payload.starts(with: MessageHeader.unitMark) {
            throw .startCodeMissing(offset: offset)
        }
        collected = []
        wanted = nil
        offset = input.offset
        return message
    }

    private func endedInside() -> LinkError {
        let neededCount = wanted ?? (form?.headerCount ?? HeaderFormatDetector.firstLook)
        return .endedInsideMessage(offset: offset, missing: max(1, neededCount - collected.count))
    }

    private mutating func readHeader() throws(LinkError) {
        if collected.isEmpty, let first = input.piece.first, first != MessageHeader.marker {
            throw .notAMessage(offset: offset, found: first)
        }
        if form == nil {
            guard input.fill(&collected, to: HeaderFormatDetector.firstLook) else { return }
            form = HeaderFormatDetector.form(of: collected)
            if form == nil, input.fill(&collected, to: HeaderFormat.legacy40.headerCount) {
                form = HeaderFormatDetector.form(of: collected)
            }
        }
        guard let form, input.fill(&collected, to: form.headerCount),
            let header = MessageHeader(decoding: collected[...], form: form)
        else { return }
        try limits.check(header, at: offset)
        let count = form.headerCount + Int(clamping: header.length)
        collected.reserveCapacity(count)
        wanted = count
    }

    /// Advances the input to bytes that could be a message. Returns whether there are any.
    private mutating func search() -> Bool {
        while true {
            let piece = input.piece
            input.drop((piece.firstIndex(of: MessageHeader.marker) ?? piece.endIndex) - piece.startIndex)
            offset = input.offset
            if input.isEmpty { return false }
            guard input.piece.first == MessageHeader.marker else { continue }
            // The candidate covers the header, and the start code and first byte of a unit. A message at the end of the
            // file may be shorter.
            var candidate: [UInt8] = []
            let isWhole = input.fill(&candidate, to: HeaderFormat.extended.headerCount + 5)
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
        let forms: [HeaderFormat] = form.map { [$0] } ?? [.legacy16, .extended, .legacy40]
        for form in forms where isLikelyMessage(bytes, form) {
            self.form = form
            return true
        }
        return false
    }

    private func isLikelyMessage(_ bytes: [UInt8], _ form: HeaderFormat) -> Bool {
        guard let header = MessageHeader(decoding: bytes[...], form: form),
            (try? limits.check(header, at: offset)) != nil
        else {
            return false
        }
        guard form == .extended, header.kind != .unit else {
            let payload = bytes.dropFirst(form.headerCount)
            guard payload.starts(with: MessageHeader.unitMark) else { return false }
            // Nearly any bytes could be a packet of Opus, so those of sound are judged by their header alone.
            guard header.stream == 0 else { return form == .extended }
            let ofVideo = TrackFormat.Codec.allCases.filter { $0.kind == .video }
            return ofVideo.contains { $0.coding.facts(of: payload.dropFirst(4)) != nil }
        }
        // Four reserved zeros and an epoch: little else in a control message is certain.
        return bytes[4..<8].allSatisfy { $0 == 0 } && bytes[32..<40].contains { $0 != 0 }
            && (header.kind != nil || header.kindCode == MessageEncoder.sourceBytesKind)
    }
}
