public import ByteCoding
public import MediaTypes

/// Encodes messages in the form of one connection. It is a value: copy it freely, and use it on any thread.
public struct MessageEncoder: Sendable {
    /// The form of the messages.
    public let form: HeaderFormat
    /// The number of this start of the capture; 0 for a host, which has none.
    public let epoch: UInt64
    /// The stream that the messages belong to.
    public let stream: UInt8
    private let limits = LinkLimits()

    /// Creates an encoder of `form`. `epoch` is random and not zero for a capture or a replay, and 0 for a host.
    public init(form: HeaderFormat = .extended, epoch: UInt64, stream: UInt8 = 0) {
        self.form = form
        self.epoch = epoch
        self.stream = stream
    }

    /// Returns the header of a unit, to be written before the unit itself, which so need not be copied.
    ///
    /// - Parameter payloadCount: the size of the unit in bytes, including its start code `00 00 00 01`.
    /// - Throws: `LinkError` if no receiver would accept a unit of this length; its offset is 0.
    public func unitHeader(
        payloadCount: Int, captureTime: MonotonicTime?, endsFrame: Bool
    ) throws(LinkError) -> [UInt8] {
        var writer = ByteWriter(capacity: form.headerCount)
        try appendUnitHeader(
            payloadCount: payloadCount, captureTime: captureTime, endsFrame: endsFrame, to: &writer)
        return writer.bytes
    }

    /// Appends the header of a unit, which ``unitHeader(payloadCount:captureTime:endsFrame:)`` returns, to `writer`.
    ///
    /// - Throws: `LinkError` if no receiver would accept a unit of this length; its offset is 0.
    public func appendUnitHeader(
        payloadCount: Int, captureTime: MonotonicTime?, endsFrame: Bool, to writer: inout ByteWriter
    ) throws(LinkError) {
        let header = MessageHeader(
            kindCode: MessageKind.unit.rawValue, flags: endsFrame ? .endOfFrame : [], stream: stream,
            length: UInt64(max(0, payloadCount)), captureTime: captureTime, epoch: epoch)
        try limits.check(header, at: 0)
        header.encode(into: &writer, form: form)
    }

    /// Returns the headers for all units of a frame, each with the part of `frame.bytes` that follows it.
    ///
    /// - Throws: `LinkError` if no receiver would accept one of its units.
    public func headers(for frame: CodedFrame) throws(LinkError) -> [OutgoingUnit] {
        var outgoing: [OutgoingUnit] = []
        outgoing.reserveCapacity(frame.units.count)
        for (index, unit) in frame.units.enumerated() {
            // Each unit of a frame follows a start code of four bytes.
            let payload = max(0, unit.lowerBound - 4)..<unit.upperBound
            let header = try unitHeader(
                payloadCount: payload.count, captureTime: frame.captureTime,
                endsFrame: index == frame.units.count - 1)
            outgoing.append(OutgoingUnit(header: header, payload: payload))
        }
        return outgoing
    }

    /// Encodes a message of kind 11: bytes of a replayed Annex B file that belong to no NAL unit. Receivers skip it.
    ///
    /// The result is empty in a legacy form; `bytes` are cut to the limit of a control message.
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

    /// The kind of the messages from `sourceBytes`. It is not in `MessageKind`, since nobody acts on them.
    public static let sourceBytesKind: UInt8 = 11

    /// Encodes a whole control message, including its header; the result is empty in a legacy form, which has no
    /// control messages.
    ///
    /// Texts are cut to their limits, and numbers are clamped to their fields. `.unit` gives an empty result; use
    /// `unitHeader` for it.
    public func encode(_ message: LinkMessage, captureTime: MonotonicTime? = nil) -> [UInt8] {
        var writer = ByteWriter()
        append(message, captureTime: captureTime, to: &writer)
        return writer.bytes
    }

    /// Encodes the same, appended to `writer`.
    public func append(_ message: LinkMessage, captureTime: MonotonicTime? = nil, to writer: inout ByteWriter) {
        guard form == .extended, message.kind != .unit else { return }
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

/// A unit to be sent: the header to write before it, and where its bytes are.
public struct OutgoingUnit: Hashable, Sendable {
    /// The message's header.
    public let header: [UInt8]
    /// The range of the payload in the frame's bytes, start code included.
    public let payload: Range<Int>
}
