import ByteCoding

/// Decodes the bytes of a connection, in pieces of any size, into messages.
///
/// The first message determines the form of the connection. Each payload byte is copied once. After an error nothing
/// more is read. It has no thread and no lock: its owner serialises the calls.
public struct MessageDecoder: Sendable {
    /// The form of the connection; nil until its first message has shown it.
    public private(set) var form: HeaderFormat?
    /// How many bytes have been taken.
    public private(set) var byteCount: UInt64 = 0
    /// How many messages have been read, including those of an unknown kind.
    public private(set) var messageCount: UInt64 = 0
    /// How many messages were of a kind that this version doesn't know.
    public private(set) var skippedCount: UInt64 = 0

    private enum State {
        /// Collecting a header in `collected`.
        case header
        /// Collecting the payload of this header in `collected`.
        case payload(MessageHeader)
        /// Skipping the payload of a message of an unknown kind.
        case skipping(UInt64)
        /// An error has ended the stream; nothing more is read.
        case failed(LinkError)
    }

    /// The most that a peer may send; a new value applies from the next message on.
    public var limits: LinkLimits
    private var state = State.header
    private var collected: [UInt8] = []
    /// The offset at which the current message began.
    private var messageOffset: UInt64 = 0
    private var ready: [ReceivedMessage] = []
    private var readyIndex = 0

    /// How many bytes are held of a message that isn't complete yet.
    public var unfinishedBytes: Int { collected.count }

    /// Creates a decoder that starts at the first byte of a connection; if the form is given, at the first byte of any
    /// message.
    public init(limits: LinkLimits = LinkLimits(), form: HeaderFormat? = nil) {
        self.limits = limits
        self.form = form
    }

    /// Takes the next bytes of the connection. `next()` throws an error in them after the messages before it.
    public mutating func push(_ bytes: [UInt8]) { push(bytes[...]) }

    /// Takes the next bytes of the connection. `next()` throws an error in them after the messages before it.
    public mutating func push(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        do throws(LinkError) {
            while !rest.isEmpty {
                switch state {
                case .header: try collectHeader(from: &rest)
                case .payload(let header): try collectPayload(of: header, from: &rest)
                case .skipping(let count): skip(count, from: &rest)
                case .failed: return
                }
            }
        } catch {
            collected = []
            state = .failed(error)
        }
    }

    /// Returns the next complete message, or nil if more bytes are needed.
    ///
    /// - Throws: what is wrong with the bytes, once all messages before that place have been returned.
    public mutating func next() throws(LinkError) -> ReceivedMessage? {
        if readyIndex < ready.count {
            let message = ready[readyIndex]
            readyIndex += 1
            if readyIndex == ready.count {
                ready.removeAll(keepingCapacity: true)
                readyIndex = 0
            }
            return message
        }
        if case .failed(let error) = state { throw error }
        return nil
    }

    /// Notes that the connection has ended.
    ///
    /// - Throws: `LinkError.endedInsideMessage` if that was in the middle of a message.
    public func finish() throws(LinkError) {
        switch state {
        case .header:
            guard !collected.isEmpty else { return }
            let missing = (form ?? .legacy16).headerCount - collected.count
            throw .endedInsideMessage(offset: messageOffset, missing: max(1, missing))
        case .payload(let header):
            throw .endedInsideMessage(
                offset: messageOffset, missing: Int(clamping: header.length) - collected.count)
        case .skipping(let count):
            throw .endedInsideMessage(offset: messageOffset, missing: Int(clamping: count))
        case .failed(let error):
            throw error
        }
    }

    private mutating func take(_ count: Int, from rest: inout ArraySlice<UInt8>) {
        let taken = rest.prefix(max(0, count))
        collected.append(contentsOf: taken)
        rest = rest.dropFirst(taken.count)
        byteCount &+= UInt64(taken.count)
    }

    private mutating func collectHeader(from rest: inout ArraySlice<UInt8>) throws(LinkError) {
        if collected.isEmpty {
            messageOffset = byteCount
            if let first = rest.first, first != MessageHeader.marker {
                throw .notAMessage(offset: byteCount, found: first)
            }
        }
        let wanted: Int
        if let form {
            wanted = form.headerCount
        } else {
            wanted =
                collected.count < HeaderFormatDetector.firstLook
                ? HeaderFormatDetector.firstLook : HeaderFormat.legacy40.headerCount
        }
        take(wanted - collected.count, from: &rest)
        if form == nil {
            form = HeaderFormatDetector.form(of: collected)
            if form == nil { try checkFirstLength() }
        }
        guard let form, collected.count >= form.headerCount,
            let header = MessageHeader(decoding: collected[...], form: form)
        else { return }
        try begin(header, form: form)
    }

    /// Rejects a first message that is too long before the rest of its header has arrived.
    ///
    /// While the form isn't known, the message can only be a unit, and its length is at the same offset in all forms.
    private func checkFirstLength() throws(LinkError) {
        var reader = ByteReader(collected)
        guard reader.bytes(MessageHeader.lengthOffset) != nil, let length = reader.uint64LittleEndian() else { return }
        if length > UInt64(limits.unit) {
            throw .unitTooLong(length: length, limit: limits.unit, offset: messageOffset)
        }
    }

    private mutating func begin(_ header: MessageHeader, form: HeaderFormat) throws(LinkError) {
        try limits.check(header, at: messageOffset)
        let length = header.length
        // Detecting the form may have taken the first bytes of the payload.
        let surplus = collected[form.headerCount...]
        guard header.kind != nil else {
            collected = []
            state = .skipping(length)
            skip(0)
            return
        }
        var payload: [UInt8] = []
        payload.reserveCapacity(Int(clamping: length))
        payload.append(contentsOf: surplus)
        collected = payload
        state = .payload(header)
        if collected.count == Int(clamping: length) { try complete(header) }
    }

    private mutating func collectPayload(
        of header: MessageHeader, from rest: inout ArraySlice<UInt8>
    ) throws(LinkError) {
        let length = Int(clamping: header.length)
        take(length - collected.count, from: &rest)
        if collected.count == length { try complete(header) }
    }

    private mutating func complete(_ header: MessageHeader) throws(LinkError) {
        guard let kind = header.kind, let form else { return }
        if kind == .unit, !collected.starts(with: MessageHeader.unitMark) {
            throw .startCodeMissing(offset: messageOffset)
        }
        do throws(ControlPayload.Problem) {
            let body = try ControlPayload.decode(kind, collected)
            ready.append(ReceivedMessage(header: header, form: form, body: body))
        } catch {
            throw .malformed(kind: kind, problem: error.text, offset: messageOffset)
        }
        messageCount &+= 1
        collected = []
        state = .header
    }

    private mutating func skip(_ count: UInt64, from rest: inout ArraySlice<UInt8>) {
        let skipped = min(count, UInt64(rest.count))
        rest = rest.dropFirst(Int(clamping: skipped))
        byteCount &+= skipped
        state = .skipping(count - skipped)
        skip(count - skipped)
    }

    /// Goes on to the next header if nothing is left to skip.
    private mutating func skip(_ left: UInt64) {
        guard left == 0, case .skipping(let count) = state, count == 0 else { return }
        messageCount &+= 1
        skippedCount &+= 1
        state = .header
    }
}
