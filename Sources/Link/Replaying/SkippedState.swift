import CaptureLink
import CodecTable
import MediaTypes

/// The state of the pictures set by the messages before the start of a replay: codec, size, sharing state, pointer and
/// headers.
struct SkippedState: Sendable {
    private var latest: [UInt8: ReplayMessage] = [:]
    /// Keeps the headers of the stream.
    private var builder = TrackFormat.Codec.h264.coding.makeBuilder()
    private static let kinds: [MessageKind] = [.format, .size, .sharing, .pointerShape, .pointerPosition]

    /// The latest message of each kind, in the order in which a capture sends them.
    var controls: [ReplayMessage] { Self.kinds.compactMap { latest[$0.rawValue] } }

    /// The headers that pictures from here on may need, without start codes.
    var headers: [[UInt8]] { builder.headers }

    /// Takes a skipped message; the pictures have `codec`.
    mutating func note(_ message: ReplayMessage, _ codec: TrackFormat.Codec) {
        guard let kind = message.header.kind, message.header.stream == 0 else { return }
        if kind == .hello {
            // This is another capture, so the state of the last one no longer applies.
            self = SkippedState()
        } else if Self.kinds.contains(kind) {
            latest[kind.rawValue] = message
            if kind == .format { builder = codec.coding.makeBuilder() }
        } else if message.facts(codec)?.contains(.header) == true {
            builder.add(Array(message.payload), captureTime: nil)
            builder.discardPending()
        }
    }
}
