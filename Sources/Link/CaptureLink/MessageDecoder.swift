import ByteCoding
import H264

/// Turns the bytes of a connection, in pieces of any size, into messages.
///
/// The first message tells the form of the connection. Each payload byte is copied once. After an error nothing more
/// is read. No thread and no lock: whoever owns it serialises.
public struct MessageDecoder: Sendable {
    /// The form of the connection; nil until its first message has told.
    public private(set) var form: LinkForm?
    /// How many bytes were taken.
    public private(set) var byteCount: UInt64 = 0
    /// How many messages were read, those of an unknown kind included.
    public private(set) var messageCount: UInt64 = 0
    /// How many messages were of a kind that this version doesn't know.
    public private(set) var skippedCount: UInt64 = 0

    private enum State {
        /// Collecting a header in `collected`.
        case header
        /// Collecting the payload of this header in `collected`.
        case payload(MessageHeader)
        /// Letting the payload of an unknown kind go by.
        case skipping(UInt64)
        /// Nothing more is read.
        case failed(LinkError)
    }

    /// What a peer may send at most; another limit counts from the next message on.
    public var limits: LinkLimits
    private var state = State.header
    private var collected: [UInt8] = []
    /// Where the message that is being read began.
    private var messageOffset: UInt64 = 0
    private var ready: [ReceivedMessage] = []
    private var readyIndex = 0

    /// How many bytes of a message are kept that is not yet whole.
    public var unfinishedBytes: Int { collected.count }

    /// A decoder at the first byte of a connection; of one whose form is known, at the first byte of any message.
    public init(limits: LinkLimits = LinkLimits(), form: LinkForm? = nil) {
        self.limits = limits
        self.form = form
    }

    /// Takes the next bytes of the connection. Errors come out of `next()`, behind the messages before them.
    public mutating func push(_ bytes: [UInt8]) { push(bytes[...]) }

    /// Takes the next bytes of the connection. Errors come out of `next()`, behind the messages before them.
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

    /// The next message that is complete, or nil where more bytes are needed.
    ///
    /// - Throws: what is wrong with the bytes, once all messages before that place were given.
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

    /// The connection has ended.
    ///
    /// - Throws: `LinkError.endedInsideMessage` where that was in the middle of a message.
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
            wanted = collected.count < FormDetection.firstLook ? FormDetection.firstLook : LinkForm.legacy40.headerCount
        }
        take(wanted - collected.count, from: &rest)
        if form == nil {
            form = FormDetection.form(of: collected)
            if form == nil { try checkFirstLength() }
        }
        guard let form, collected.count >= form.headerCount,
            let header = MessageHeader(decoding: collected[...], form: form)
        else { return }
        try begin(header, form: form)
    }

    /// While the form is open the message can be a NAL unit alone, and its length stands at the same place in all forms: too
    /// large a one is told before the rest of its header has come.
    private func checkFirstLength() throws(LinkError) {
        var reader = ByteReader(collected)
        guard reader.bytes(MessageHeader.lengthOffset) != nil, let length = reader.uint64LittleEndian() else { return }
        if length > UInt64(limits.nalUnit) {
            throw .nalUnitTooLong(length: length, limit: limits.nalUnit, offset: messageOffset)
        }
    }

    /// Checks the length against its limit before anything is reserved for it.
    private mutating func begin(_ header: MessageHeader, form: LinkForm) throws(LinkError) {
        let length = header.length
        if header.kind == .nalUnit {
            guard length >= 5 else { throw .nalUnitTooShort(length: length, offset: messageOffset) }
            guard length <= UInt64(limits.nalUnit) else {
                throw .nalUnitTooLong(length: length, limit: limits.nalUnit, offset: messageOffset)
            }
        } else if length > UInt64(limits.controlMessage) {
            throw .controlMessageTooLong(
                kindCode: header.kindCode, length: length, limit: limits.controlMessage, offset: messageOffset)
        }
        // Telling the forms apart may have taken the first bytes of a payload.
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
        if kind == .nalUnit, !collected.starts(with: AnnexB.startCode) {
            throw .startCodeMissing(offset: messageOffset)
        }
        switch ControlPayload.decode(kind, collected) {
        case .success(let body): ready.append(ReceivedMessage(header: header, form: form, body: body))
        case .failure(let problem): throw .malformed(kind: kind, problem: problem.words, offset: messageOffset)
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

    /// Goes on to the next header where nothing is left to skip.
    private mutating func skip(_ left: UInt64) {
        guard left == 0, case .skipping(let count) = state, count == 0 else { return }
        messageCount &+= 1
        skippedCount &+= 1
        state = .header
    }
}
