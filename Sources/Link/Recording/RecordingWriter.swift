public import ByteCoding
public import CaptureLink
public import MediaTypes

/// Writes the bytes of a recording: first `header.bytes`, then records. It is a value and does no I/O. Arrival times
/// are on the recorder's CLOCK_MONOTONIC.
///
/// A message's bytes are not copied: only the record's header is appended to a writer, and the caller writes the
/// message after it.
public struct RecordingWriter: Sendable {
    /// The number of bytes that precede a message in its record.
    public static let recordHeaderCount = RecordHeader.count
    /// The length of a gap record's content in bytes.
    public static let gapContentCount = 32
    /// The header at the front of the file.
    public let header: RecordingHeader

    /// Creates a writer for the recording with this header.
    public init(header: RecordingHeader) {
        self.header = header
    }

    /// Appends the record header of `message`. The message's own bytes must follow.
    public func appendHeader(
        of message: ArraySlice<UInt8>, form: HeaderFormat, direction: LinkDirection = .toHost,
        at arrival: MonotonicTime,
        to writer: inout ByteWriter
    ) {
        RecordHeader(
            kind: .message, flags: RecordHeader.flags(form, direction), arrival: arrival - header.start,
            contentCount: message.count, contentCheck: CRC32.of(message)
        ).encode(into: &writer)
    }

    /// Appends a record for the beginning of a connection.
    public func appendConnection(at arrival: MonotonicTime, to writer: inout ByteWriter) {
        append(.connection, [], at: arrival, to: &writer)
    }

    /// Appends a record for messages that were left out, after the last message before the gap.
    public func appendGap(_ gap: RecordingGap, at arrival: MonotonicTime, to writer: inout ByteWriter) {
        var content = ByteWriter(capacity: Self.gapContentCount)
        content.uint64LittleEndian(gap.messages)
        content.uint64LittleEndian(gap.bytes)
        content.uint64LittleEndian(UInt64(clamping: gap.from.nanoseconds))
        content.uint64LittleEndian(UInt64(clamping: gap.to.nanoseconds))
        append(.gap, content.bytes, at: arrival, to: &writer)
    }

    /// Appends the end record, which says that nothing is missing at the end.
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
