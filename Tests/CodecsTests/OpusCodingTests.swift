import AudioCoding
import MediaTypes
import TestSupport
import Testing

@Suite("Opus")
struct OpusCodingTests {
    /// What a decoder makes of `samples`, from the sample that the first of them became.
    private func decoded(_ samples: [Float], _ encoder: OpusEncoder, losing lost: Set<Int> = []) throws -> [Float] {
        let decoder = try OpusDecoder(channelCount: encoder.channelCount)
        let size = OpusEncoder.frameCount * encoder.channelCount
        var result: [Float] = []
        for index in 0..<samples.count / size {
            let packet = Array(try encoder.encode(Array(samples[index * size..<(index + 1) * size])))
            result += try decoder.decode(lost.contains(index) ? nil : packet[...])
        }
        return Array(result.dropFirst(encoder.lookahead * encoder.channelCount))
    }

    @Test("keeps a tone: more than 40 dB above the noise at 128 kbit/s, and in its place", arguments: [1, 2])
    func tonePasses(channelCount: Int) throws {
        let encoder = try OpusEncoder(channelCount: channelCount, bitRate: BitRate(bitsPerSecond: 128_000))
        #expect(encoder.lookahead == 120)
        let result = try decoded(tone(440, seconds: 2, channelCount: channelCount), encoder)
        for channel in 0..<channelCount {
            let samples = stride(from: channel, to: result.count, by: channelCount).map { result[$0] }
            let fit = ToneFit(440, in: Array(samples[24_000..<72_000]))
            #expect(fit.signalToNoise > 40)
            #expect(abs(fit.amplitude - 0.5) < 0.01)
            // Half a second is 220 periods, so the phase is that of the beginning.
            #expect(abs(fit.phase) < 0.03)
        }
    }

    @Test("hides a lost packet: the sound goes on without a hole")
    func loss() throws {
        let encoder = try OpusEncoder(channelCount: 1, bitRate: BitRate(bitsPerSecond: 96_000))
        let result = try decoded(tone(440, seconds: 1), encoder, losing: [25])
        #expect(result.count == 48_000 - encoder.lookahead)
        // Four periods of what stands for packet 25.
        let start = 25 * OpusEncoder.frameCount - encoder.lookahead
        let hidden = ToneFit(440, in: Array(result[start + 12..<start + 448]))
        #expect(hidden.amplitude > 0.2)
    }

    @Test("keeps to its bit rate, within its limits")
    func bitRate() throws {
        let encoder = try OpusEncoder(channelCount: 2, bitRate: BitRate(bitsPerSecond: 1_000_000))
        #expect(encoder.bitRate == BitRate(bitsPerSecond: 128_000))
        encoder.setBitRate(BitRate(bitsPerSecond: 1))
        #expect(encoder.bitRate == BitRate(bitsPerSecond: 16_000))
        encoder.setBitRate(BitRate(bitsPerSecond: 64_000))
        var random = SeededRandom(seed: 5)
        var count = 0
        for _ in 0..<150 {
            let noise = (0..<2 * OpusEncoder.frameCount).map { _ in Float.random(in: -0.5...0.5, using: &random) }
            count += try encoder.encode(noise).count
        }
        // 150 packets are 3 s, and 64 kbit/s are 8000 bytes a second.
        #expect((20_000...27_000).contains(count))
    }

    @Test("says what is wrong with its input, and goes on")
    func errors() throws {
        let encoder = try OpusEncoder(channelCount: 2, bitRate: BitRate(bitsPerSecond: 96_000))
        #expect(throws: AudioCodingError.wrongSampleCount(found: 480, expected: 1920)) {
            try encoder.encode([Float](repeating: 0, count: 480))
        }
        #expect(throws: AudioCodingError.self) { try OpusEncoder(channelCount: 3, bitRate: encoder.bitRate) }
        let decoder = try OpusDecoder(channelCount: 1)
        // Code 3 with no frame.
        #expect(throws: AudioCodingError.self) { try decoder.decode([0xFF, 0x00]) }
        let packet = Array(try encoder.encode([Float](repeating: 0, count: 1920)))
        #expect(try decoder.decode(packet[...]).count == 960)
    }
}
