import CPulse
import Glibc

/// Plays sound on the default sink, for `screenrelay view`: it is here because only this program has libpulse.
public enum SoundPlayback {
    private static let channelCount = 2
    /// The bytes of 10 ms.
    private static let pieceCount = 480 * channelCount * MemoryLayout<Float>.size

    /// Plays samples at 48 kHz, interleaved floats of two channels in the machine's byte order, until the descriptor's
    /// end. Blocks while the server has 50 ms that it hasn't played.
    ///
    /// - Throws: `noServer` with libpulse's reason.
    public static func play(from descriptor: Int32) throws(AudioError) {
        var format = pa_sample_spec(format: shim_PA_SAMPLE_FLOAT32NE, rate: 48_000, channels: UInt8(channelCount))
        var buffer = pa_buffer_attr(
            maxlength: .max, tlength: UInt32(pieceCount * 5), prebuf: .max, minreq: .max, fragsize: .max)
        var code: Int32 = 0
        let stream = pa_simple_new(
            nil, "ScreenRelay", PA_STREAM_PLAYBACK, nil, "viewed sound", &format, nil, &buffer, &code)
        guard let stream else { throw failure(code) }
        defer { pa_simple_free(stream) }
        var piece = [UInt8](repeating: 0, count: pieceCount)
        // The server takes whole samples only.
        while fill(&piece, from: descriptor) {
            guard pa_simple_write(stream, piece, piece.count, &code) >= 0 else { throw failure(code) }
        }
    }

    /// Returns false at the end.
    private static func fill(_ piece: inout [UInt8], from descriptor: Int32) -> Bool {
        var filled = 0
        while filled < piece.count {
            let count = piece[filled...].withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            filled += count
        }
        return true
    }

    private static func failure(_ code: Int32) -> AudioError {
        .noServer(reason: pa_strerror(code).map { String(cString: $0) } ?? "no reason given")
    }
}
