public import ByteCoding
public import CaptureLink
public import MediaTypes

/// Writes the bytes of a recording: first `header.bytes`, then records. A value without I/O; arrival times are those of
/// the recorder's CLOCK_MONOTONIC.
///
/// A message's bytes are not copied: the record's header is appended to a writer, and the message goes behind it.
public struct RecordingWriter: Sendable {
    /// How many bytes stand in front of a message in its record.
    public static let recordHeaderCount = RecordHeader.count
    /// How many bytes the content of a gap's record has.
    public static let gapContentCount = 32
    /// What stands at the front of the file.
    public let header: RecordingHeader

    /// A writer of the recording with this header.
    public init(header: RecordingHeader) {
        self.header = header
    }

    /// Appends what stands before `message` in its record; the message's own bytes have to follow.
    public func appendHeader(
        of message: ArraySlice<UInt8>, form: LinkForm, direction: LinkDirection = .toHost, at arrival: MonotonicTime,
        to writer: inout ByteWriter
    ) {
        RecordHeader(
            kind: .message, flags: RecordHeader.flags(form, direction), arrival: arrival - header.start,
            contentCount: message.count, contentCheck: CRC32.of(message)
        ).encode(into: &writer)
    }

    /// Appends the record of a connection that begins.
    public func appendConnection(at arrival: MonotonicTime, to writer: inout ByteWriter) {
        append(.connection, [], at: arrival, to: &writer)
    }

    /// Appends the record of messages that were left out, behind the last of those before.
    public func appendGap(_ gap: RecordingGap, at arrival: MonotonicTime, to writer: inout ByteWriter) {
        var content = ByteWriter(capacity: Self.gapContentCount)
        content.uint64LittleEndian(gap.messages)
        content.uint64LittleEndian(gap.bytes)
        content.uint64LittleEndian(UInt64(clamping: gap.from.nanoseconds))
        content.uint64LittleEndian(UInt64(clamping: gap.to.nanoseconds))
        append(.gap, content.bytes, at: arrival, to: &writer)
    }

    /// Appends the record that says that nothing is missing at the end.
    public func appendEnd(at arrival: MonotonicTime, to writer: inout ByteWriter) {
        append(.end, [], at: arrival, to: &writer)
    }

    private func append(
        _ kind: RecordHeader.Kind, _ content: [UInt8], at arrival: MonotonicTime, to writer: inout ByteWriter
    ) {
        RecordHeader(
            kind: kind, arrival: arrival - header.start, contentCount: content.count,
            contentCheck: CRC32.of(content[...])
        ).encode(into: &writer)
        writer.append(content)
    }
}
