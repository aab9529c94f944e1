public import CaptureLink
public import MediaTypes

/// One message of the link with its header, exactly as it was sent.
public struct LinkBytes: Hashable, Sendable {
    /// The header and the payload.
    public let bytes: [UInt8]
    /// The form of the header.
    public let form: HeaderFormat
    /// The header.
    public let header: MessageHeader

    /// Creates a message from `bytes`. Nil if they don't begin with a header of `form` that gives the length of the
    /// rest.
    public init?(_ bytes: [UInt8], form: HeaderFormat) {
        guard let header = MessageHeader(decoding: bytes[...], form: form), bytes.count >= form.headerCount,
            header.length == UInt64(bytes.count - form.headerCount)
        else { return nil }
        self.bytes = bytes
        self.form = form
        self.header = header
    }

    /// The bytes after the header. Those of a unit begin with its start code.
    public var payload: ArraySlice<UInt8> { bytes.dropFirst(form.headerCount) }

    /// The unit without its start code. Nil for any other kind of message.
    public var unit: ArraySlice<UInt8>? {
        guard header.kind == .unit, payload.starts(with: MessageHeader.unitMark) else { return nil }
        return payload.dropFirst(MessageHeader.unitMark.count)
    }

    /// The codec that a format message announces. Nil for any other kind of message.
    public var codec: TrackFormat.Codec? {
        header.kind == .format ? payload.first.flatMap { TrackFormat.Codec(rawValue: $0) } : nil
    }

    /// The bytes of the Annex B file from which the message was replayed: a NAL unit with its original start code (four
    /// bytes unless flagged otherwise), or the bytes between NAL units. Nil for any other message, also one of sound.
    public var annexB: ArraySlice<UInt8>? {
        guard header.stream == 0 else { return nil }
        if header.kindCode == MessageEncoder.sourceBytesKind { return payload }
        guard header.kind == .unit, payload.starts(with: MessageHeader.unitMark) else { return nil }
        return header.flags.contains(.shortStartCode) ? payload.dropFirst() : payload
    }

    /// The decoded message, as the host's decoder would return it. Nil for a kind that this version doesn't know.
    ///
    /// - Throws: The error for which the host would have closed the connection. Its offset counts from the message's
    ///   first byte.
    public func received(limits: LinkLimits = LinkLimits()) throws(LinkError) -> ReceivedMessage? {
        var decoder = MessageDecoder(limits: limits, form: form)
        decoder.push(bytes)
        return try decoder.next()
    }
}
