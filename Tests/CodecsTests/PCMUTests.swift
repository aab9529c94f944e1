import AudioCoding
import AudioConversion
import MediaTypes
import Processes
import TestSupport
import Testing

@Suite("PCMU")
struct PCMUTests {
    private func encoded(_ samples: [Float]) -> [UInt8] {
        var bytes: [UInt8] = []
        samples.withUnsafeBufferPointer { PCMUEncoder.encode($0, into: &bytes) }
        return bytes
    }

    /// What FFmpeg makes of the bytes.
    private func decoded(_ bytes: [UInt8]) throws -> [Int] {
        let folder = try TemporaryFolder()
        let path = try folder.write("sound.ul", bytes)
        let result = try FFmpeg.run([
            "-f", "mulaw", "-ar", "8000", "-ac", "1", "-i", path, "-f", "s16le", "-c:a", "pcm_s16le", "pipe:1",
        ])
        #expect(result.status == .exited(0), "\(result.messages)")
        return stride(from: 0, to: result.bytes.count - 1, by: 2).map { index in
            Int(Int16(bitPattern: UInt16(result.bytes[index]) | UInt16(result.bytes[index + 1]) << 8))
        }
    }

    /// What an Opus decoder at 8 kHz makes of two seconds of a tone, from the sample that its first became.
    private func carried(_ hertz: Int, channelCount: Int) throws -> [UInt8] {
        let encoder = try OpusEncoder(channelCount: channelCount, bitRate: BitRate(bitsPerSecond: 128_000))
        let decoder = try OpusDecoder(channelCount: 1, rate: PCMUEncoder.rate)
        let samples = tone(hertz, seconds: 2, channelCount: channelCount)
        let size = OpusEncoder.frameCount * channelCount
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: samples.count, by: size) {
            let packet = Array(try encoder.encode(Array(samples[start..<start + size])))
            let decoded = try decoder.decode(packet[...])
            #expect(decoded.count == 160)
            PCMUEncoder.encode(decoded, into: &bytes)
        }
        return Array(bytes.dropFirst(encoder.lookahead / 6))
    }

    @Test("has the codes of G.711's table at the ends of its segments, and clips")
    func table() {
        // Table 2a and 2b of G.711, whose values have 14 bits, as values of 16 bits.
        let known: [(Int, UInt8)] = [
            (0, 0xFF), (123, 0xF0), (124, 0xEF), (379, 0xE0), (380, 0xDF), (891, 0xD0), (892, 0xCF), (1916, 0xBF),
            (3964, 0xAF), (8060, 0x9F), (16_252, 0x8F), (31_611, 0x81), (31_612, 0x80), (32_767, 0x80), (-4, 0x7E),
            (-124, 0x6F), (-32_768, 0x00),
        ]
        for (value, code) in known {
            #expect(encoded([Float(value) / 32_768]) == [code], "\(value)")
        }
        #expect(encoded([1, 2, -2, .infinity, -.infinity, .nan]) == [0x80, 0x80, 0x00, 0x80, 0x00, 0x80])
    }

    @Test("FFmpeg decodes every sample to within half a step", .enabled(if: FFmpeg.isAvailable))
    func everySample() throws {
        let values = Array(-32_635...32_635)
        let decoded = try decoded(encoded(values.map { Float($0) / 32_768 }))
        try #require(decoded.count == values.count)
        let wrong = zip(values, decoded).filter { value, result in
            // Each segment's steps are twice as long as those of the one before; the first ones are of 8.
            let segment = 24 - UInt32(abs(value) + 132).leadingZeroBitCount
            return abs(value - result) > 4 << segment
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
    }

    @Test(
        "a tone passes Opus and PCMU more than 30 dB above the noise, and in its place",
        .enabled(if: FFmpeg.isAvailable), arguments: [1, 2])
    func tonePasses(channelCount: Int) throws {
        let samples = try decoded(carried(440, channelCount: channelCount)).map { Float($0) / 32_768 }
        try #require(samples.count > 12_000)
        // A tone of 440 Hz at 8 kHz is one of 2640 Hz at 48 kHz; a quarter of a second has 110 periods.
        let fit = ToneFit(2640, in: Array(samples[4000..<12_000]))
        #expect(fit.signalToNoise > 30)
        #expect(abs(fit.amplitude - 0.5) < 0.01)
        #expect(abs(fit.phase) < 0.05)
    }

    @Test("what a rate has no room for is left out, not folded back", .enabled(if: FFmpeg.isAvailable))
    func tooHigh() throws {
        let samples = try decoded(carried(5000, channelCount: 1))
        try #require(samples.count > 12_000)
        #expect(samples[4000..<12_000].allSatisfy { abs($0) < 200 })
    }
}
