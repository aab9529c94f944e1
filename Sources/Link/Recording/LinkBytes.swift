public import CaptureLink
import H264

/// One message of the link with its header, exactly as it passed.
public struct LinkBytes: Hashable, Sendable {
    /// Header and payload.
    public let bytes: [UInt8]
    /// How the header is to be read.
    public let form: LinkForm
    /// The header.
    public let header: MessageHeader

    /// The message that `bytes` are; nil where they don't begin with a header of `form` whose length is that of the rest.
    public init?(_ bytes: [UInt8], form: LinkForm) {
        guard let header = MessageHeader(decoding: bytes[...], form: form), bytes.count >= form.headerCount,
            header.length == UInt64(bytes.count - form.headerCount)
        else { return nil }
        self.bytes = bytes
        self.form = form
        self.header = header
    }

    /// What follows the header; of a NAL unit with its start code.
    public var payload: ArraySlice<UInt8> { bytes.dropFirst(form.headerCount) }

    /// The NAL unit, without its start code and the zeros behind it; nil in every other kind of message, and where there is
    /// nothing but a start code and zeros.
    public var nalUnit: ArraySlice<UInt8>? {
        guard header.kind == .nalUnit, payload.starts(with: AnnexB.startCode) else { return nil }
        let unit = payload.dropFirst(AnnexB.startCode.count)
        guard let last = unit.lastIndex(where: { $0 != 0 }) else { return nil }
        return unit[...last]
    }

    /// The bytes of the file that was replayed, for Annex B: a NAL unit behind the start code that it had there (four bytes
    /// where nobody has said otherwise), or what stood between NAL units. Nil for every other kind of message.
    public var annexB: ArraySlice<UInt8>? {
        if header.kindCode == MessageEncoder.sourceBytesKind { return payload }
        guard header.kind == .nalUnit, payload.starts(with: AnnexB.startCode) else { return nil }
        return header.flags.contains(.shortStartCode) ? payload.dropFirst() : payload
    }

    /// The message with its payload read, as the host's decoder would give it; nil for a kind that this version doesn't know.
    ///
    /// - Throws: what the host would have ended the connection for; its offset counts from the message's first byte.
    public func received(limits: LinkLimits = LinkLimits()) throws(LinkError) -> ReceivedMessage? {
        var decoder = MessageDecoder(limits: limits, form: form)
        decoder.push(bytes)
        return try decoder.next()
    }
}
