import AudioCoding
import AudioConversion
import MediaFiles
import MediaTypes
import TestSupport
import Testing

@Suite("AAC", .enabled(if: FFmpeg.isAvailable))
struct AACEncoderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func encoder(_ rate: Int, _ channelCount: Int, kilobits: Int = 128) throws -> AACEncoder {
        try AACEncoder(
            from: SampleLayout(rate: 48_000, channelCount: channelCount),
            to: SampleLayout(rate: rate, channelCount: channelCount), bitRate: BitRate(bitsPerSecond: kilobits * 1000))
    }

    /// Encodes samples, so many numbers at a time.
    private func encode(_ samples: [Float], _ encoder: AACEncoder, by count: Int) throws -> [AACFrame] {
        var frames: [AACFrame] = []
        for start in stride(from: 0, to: samples.count, by: count) {
            let piece = Array(samples[start..<min(start + count, samples.count)])
            frames += try piece.withUnsafeBufferPointer { try encoder.encode($0) }
        }
        return frames
    }

    /// What a player hears of the frames, as samples at 48 kHz of one channel.
    private func decoded(_ frames: [AACFrame], of encoder: AACEncoder, kilobits: Int) throws -> [Float] {
        let path = folder.file("sound.mkv")
        let codec = AudioTrack.Codec.aac(
            configuration: encoder.configuration, rate: encoder.output.rate,
            bitRate: BitRate(bitsPerSecond: kilobits * 1000))
        let writer = try MediaFileWriter(
            address: "file:" + path, container: .matroska, track: nil,
            sound: AudioTrack(codec: codec, channelCount: encoder.output.channelCount))
        let rate = ClockRate(hertz: UInt32(encoder.output.rate))
        let duration = rate.interval(of: Int64(AACEncoder.frameCount))
        for frame in frames where frame.time >= 0 {
            try writer.write(sound: frame.bytes, at: rate.interval(of: frame.time), for: duration)
        }
        try writer.finish()
        let result = try FFmpeg.run(["-i", path, "-f", "f32le", "-ar", "48000", "pipe:1"])
        #expect(result.messages.isEmpty, "\(result.messages)")
        let samples = result.bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 3, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: Float.self) }
        }
        let channels = encoder.output.channelCount
        return stride(from: 0, to: samples.count - channels + 1, by: channels).map { samples[$0] }
    }

    @Test(
        "keeps a tone above the noise, as far as libavcodec does, and in its place, at each rate",
        arguments: [(48_000, 2, 128, 30.0), (44_100, 2, 96, 30), (32_000, 1, 64, 15)])
    func tonePasses(rate: Int, channelCount: Int, kilobits: Int, decibels: Double) throws {
        let encoder = try encoder(rate, channelCount, kilobits: kilobits)
        #expect(encoder.configuration.count >= 2)
        // In pieces of 20 ms, as packets of Opus mostly are.
        let frames = try encode(
            tone(440, seconds: 2, channelCount: channelCount), encoder, by: 960 * channelCount)
        let result = try decoded(frames, of: encoder, kilobits: kilobits)
        try #require(result.count > 72_000)
        let fit = ToneFit(440, in: Array(result[24_000..<72_000]))
        #expect(fit.signalToNoise > decibels)
        #expect(abs(fit.amplitude - 0.5) < 0.02)
        // Half a second is 220 periods, so the phase is that of the beginning.
        #expect(abs(fit.phase) < 0.05)
    }

    @Test("frames follow each other, from the one before the first sample on, however many samples come at a time")
    func times() throws {
        for count in [1, 960, 1024, 5000] {
            let frames = try encode(tone(440, seconds: 0.5), try encoder(48_000, 1), by: count)
            // Of the 23 frames that half a second fills, the last one waits for what follows.
            let expected = (-1..<21 as Range<Int64>).map { $0 * 1024 }
            #expect(frames.map(\.time) == expected, "by \(count)")
        }
    }

    @Test("keeps to its bit rate, and silence takes little")
    func bitRate() throws {
        var random = SeededRandom(seed: 5)
        let noise = (0..<96_000 * 2).map { _ in Float.random(in: -0.3...0.3, using: &random) }
        for kilobits in [64, 128] {
            let frames = try encode(noise, try encoder(48_000, 2, kilobits: kilobits), by: 960)
            let rate = Double(frames.reduce(0) { $0 + $1.bytes.count }) * 8 / (Double(frames.count) * 1024 / 48_000)
            #expect(abs(rate / Double(kilobits * 1000) - 1) < 0.2, "\(rate)")
        }
        let silence = try encode([Float](repeating: 0, count: 96_000), try encoder(48_000, 2), by: 960)
        #expect(silence.dropFirst(5).allSatisfy { $0.bytes.count < 40 })
    }

    @Test("what is no sound doesn't end it, and a rate that it hasn't is refused")
    func faults() throws {
        let encoder = try encoder(48_000, 1)
        let frames = try encode(
            [Float](repeating: .nan, count: 4096) + [Float](repeating: .infinity, count: 4096), encoder, by: 1024)
        #expect(frames.count == 7)
        #expect(throws: AudioCodingError.self) { try self.encoder(12_345, 1) }
    }
}
