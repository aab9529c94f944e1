import CPulse
import MediaTypes

/// Makes a sink rewind its buffer, by playing 20 ms of silence on it.
///
/// A sink without listeners mixes what a program plays up to 2 s ahead, and a new listener gets nothing until that has
/// been played. When another program starts to play, the sink discards what it has mixed but not played and mixes it
/// again with the new program; from then on the listener gets it too.
final class SinkNudge {
    private let stream: OpaquePointer
    private var isWritten = false

    private static let silence = [Float](repeating: 0, count: Slot.frameCount)

    /// Nil if the server can't be asked for it.
    init?(_ context: OpaquePointer, sink: String) {
        var format = pa_sample_spec(format: shim_PA_SAMPLE_FLOAT32NE, rate: 48_000, channels: 1)
        guard let stream = pa_stream_new(context, "shared sound", &format, nil) else { return nil }
        let slot = UInt32(Slot.frameCount * MemoryLayout<Float>.size)
        var buffer = pa_buffer_attr(
            maxlength: slot, tlength: slot, prebuf: slot / 2, minreq: .max, fragsize: .max)
        guard pa_stream_connect_playback(stream, sink, &buffer, PA_STREAM_DONT_MOVE, nil, nil) == 0 else {
            pa_stream_unref(stream)
            return nil
        }
        self.stream = stream
    }

    deinit {
        // An error means that the connection has gone, and the stream with it.
        _ = pa_stream_disconnect(stream)
        pa_stream_unref(stream)
    }

    /// Plays the silence once the server is ready.
    func advance() {
        guard !isWritten, pa_stream_get_state(stream) == PA_STREAM_READY else { return }
        isWritten = true
        _ = Self.silence.withUnsafeBytes { pa_stream_write(stream, $0.baseAddress, $0.count, nil, 0, PA_SEEK_RELATIVE) }
    }
}
