import AudioCoding
import MediaTypes
import Opus

/// Makes packets of 20 ms of an application's samples: joins consecutive samples, and leaves out silence.
///
/// The time is an argument. Not thread-safe.
struct AudioEncoder {
    /// How far from the end of the samples before others may be captured and still follow them. Seconds of a sound card
    /// are a little longer or shorter than ours, and a break is heard.
    private static let tolerance = Interval.milliseconds(20)
    /// The tolerance where it is only known when samples were written.
    private static let writingTolerance = Interval.milliseconds(200)

    private let encoder: OpusEncoder
    private var gate = SilenceGate()
    /// When the first sample in `waiting` was captured; nil if the next samples follow no others.
    private var start: MonotonicTime?
    /// Samples that don't fill a packet yet, interleaved.
    private var waiting: [Float] = []

    init(channelCount: Int, bitRate: BitRate) throws(AudioCodingError) {
        encoder = try OpusEncoder(channelCount: channelCount, bitRate: bitRate)
    }

    /// Ends the run of samples encoded so far: the next samples don't continue it.
    mutating func forget() {
        guard start != nil else { return }
        start = nil
        waiting = []
        gate = SilenceGate()
        encoder.reset()
    }

    /// Adds samples with the encoder's number of channels, and returns the packets that they complete. Sets `hasFailed`
    /// if libopus fails, as it does only without memory.
    mutating func encode(
        _ sound: AudioSamples, captured: MonotonicTime?, now: MonotonicTime, _ hasFailed: inout Bool
    ) -> [CodedFrame] {
        let time = captured ?? now - sound.duration
        let tolerance = captured == nil ? Self.writingTolerance : Self.tolerance
        let length = ClockRate.audio.interval(of: Int64(waiting.count / encoder.channelCount))
        if let start, (time - (start + length)).nanoseconds.magnitude > tolerance.nanoseconds.magnitude { forget() }
        var first = start ?? time
        waiting += sound.samples
        var frames: [CodedFrame] = []
        let size = OpusEncoder.frameCount * encoder.channelCount
        var used = 0
        while waiting.count - used >= size {
            let samples = Array(waiting[used..<used + size])
            used += size
            if gate.passes(samples) {
                if let frame = frame(of: samples, at: first) { frames.append(frame) } else { hasFailed = true }
            }
            first = first + ClockRate.audio.interval(of: Int64(OpusEncoder.frameCount))
        }
        waiting.removeFirst(used)
        start = first
        return frames
    }

    /// Nil if libopus fails.
    private func frame(of samples: [Float], at time: MonotonicTime) -> CodedFrame? {
        guard let packet = try? encoder.encode(samples) else { return nil }
        // A decoder plays some samples before the first one of the packet.
        let lookahead = ClockRate.audio.interval(of: Int64(encoder.lookahead))
        return CodedFrame(opus: Array(packet), captureTime: time - lookahead)
    }
}
