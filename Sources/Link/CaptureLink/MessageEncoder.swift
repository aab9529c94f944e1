public import ByteCoding
public import MediaTypes

/// Writes messages in the form of one connection. A value: copy it freely, use it on any thread.
public struct MessageEncoder: Sendable {
    /// The form that is written.
    public let form: LinkForm
    /// The number of this start of capture; 0 for a host, which has none.
    public let epoch: UInt64
    /// Which stream the messages belong to.
    public let stream: UInt8
    private let limits = LinkLimits()

    /// An encoder of `form`. `epoch` is random and not zero for capture and replay, 0 for a host.
    public init(form: LinkForm = .extended, epoch: UInt64, stream: UInt8 = 0) {
        self.form = form
        self.epoch = epoch
        self.stream = stream
    }

    /// The header in front of a NAL unit, to be written before the NAL unit itself without copying that.
    ///
    /// - Parameter payloadCount: bytes of the NAL unit with its start code `00 00 00 01`.
    /// - Throws: `LinkError` where no receiver would take a NAL unit of this length; its offset is 0.
    public func nalUnitHeader(
        payloadCount: Int, captureTime: MonotonicTime?, endsAccessUnit: Bool, hadShortStartCode: Bool = false
    ) throws(LinkError) -> [UInt8] {
        var writer = ByteWriter(capacity: form.headerCount)
        try appendNALUnitHeader(
            payloadCount: payloadCount, captureTime: captureTime, endsAccessUnit: endsAccessUnit,
            hadShortStartCode: hadShortStartCode, to: &writer)
        return writer.bytes
    }

    /// The same, appended to what `writer` has already.
    public func appendNALUnitHeader(
        payloadCount: Int, captureTime: MonotonicTime?, endsAccessUnit: Bool, hadShortStartCode: Bool = false,
        to writer: inout ByteWriter
    ) throws(LinkError) {
        let length = UInt64(max(0, payloadCount))
        guard payloadCount >= 5 else { throw .nalUnitTooShort(length: length, offset: 0) }
        guard payloadCount <= limits.nalUnit else {
            throw .nalUnitTooLong(length: length, limit: limits.nalUnit, offset: 0)
        }
        var flags: MessageFlags = endsAccessUnit ? .endOfAccessUnit : []
        if hadShortStartCode { flags.insert(.shortStartCode) }
        let header = MessageHeader(
            kindCode: MessageKind.nalUnit.rawValue, flags: flags, stream: stream,
            length: length, captureTime: captureTime, epoch: epoch)
        header.encode(into: &writer, form: form)
    }

    /// The headers for all NAL units of an access unit, each with the part of `accessUnit.bytes` that follows it.
    ///
    /// - Throws: `LinkError` where no receiver would take one of its NAL units.
    public func headers(for accessUnit: AccessUnit) throws(LinkError) -> [OutgoingNALUnit] {
        var outgoing: [OutgoingNALUnit] = []
        outgoing.reserveCapacity(accessUnit.nalUnits.count)
        for (index, nalUnit) in accessUnit.nalUnits.enumerated() {
            // Each NAL unit of an `AccessUnit` stands behind a start code of four bytes.
            let payload = max(0, nalUnit.lowerBound - 4)..<nalUnit.upperBound
            let header = try nalUnitHeader(
                payloadCount: payload.count, captureTime: accessUnit.captureTime,
                endsAccessUnit: index == accessUnit.nalUnits.count - 1)
            outgoing.append(OutgoingNALUnit(header: header, payload: payload))
        }
        return outgoing
    }

    /// A whole message of kind 11: bytes of a replayed Annex B file that belong to no NAL unit. Receivers pass it over.
    ///
    /// Empty in a legacy form; `bytes` are cut at the limit of a control message.
    public func sourceBytes(_ bytes: some Collection<UInt8>) -> [UInt8] {
        guard form == .extended else { return [] }
        let bytes = bytes.prefix(limits.controlMessage)
        var writer = ByteWriter(capacity: form.headerCount + bytes.count)
        let header = MessageHeader(
            kindCode: Self.sourceBytesKind, stream: stream, length: UInt64(bytes.count), epoch: epoch)
        header.encode(into: &writer, form: form)
        writer.append(bytes)
        return writer.bytes
    }

    /// The kind of the messages that `sourceBytes` makes; not among `MessageKind`, since nobody acts on them.
    public static let sourceBytesKind: UInt8 = 11

    /// A whole control message, header included; empty in a legacy form, which has none.
    ///
    /// Texts are cut at their limits and numbers clamped to the fields they go in. `.nalUnit` belongs to `nalUnitHeader`;
    /// here it gives nothing.
    public func encode(_ message: LinkMessage, captureTime: MonotonicTime? = nil) -> [UInt8] {
        var writer = ByteWriter()
        append(message, captureTime: captureTime, to: &writer)
        return writer.bytes
    }

    /// The same, appended to what `writer` has already.
    public func append(_ message: LinkMessage, captureTime: MonotonicTime? = nil, to writer: inout ByteWriter) {
        guard form == .extended, message.kind != .nalUnit else { return }
        let start = writer.count
        let header = MessageHeader(
            kindCode: message.kind.rawValue, stream: stream, length: 0, captureTime: captureTime, epoch: epoch)
        header.encode(into: &writer, form: form)
        let payloadStart = writer.count
        ControlPayload.encode(message, into: &writer)
        writer.overwrite(
            uint64LittleEndian: UInt64(writer.count - payloadStart), at: start + MessageHeader.lengthOffset)
    }
}

/// A NAL unit on its way out: what to write before it, and where its bytes are.
public struct OutgoingNALUnit: Hashable, Sendable {
    /// The message's header.
    public let header: [UInt8]
    /// The payload's place in the access unit's bytes, start code included.
    public let payload: Range<Int>
}
