import AudioCoding
import AudioConversion
import MediaTypes
import TestSupport
import Testing

@Suite("Sound of other codecs than Opus")
struct SoundDecodingTests {
    /// A sample in G.711 µ-law.
    private func muLaw(_ sample: Float) -> UInt8 {
        let biased = min(32_635, Int((abs(sample) * 32_767).rounded())) + 132
        let exponent = (0..<8).last { biased >> ($0 + 7) & 1 == 1 } ?? 0
        let mantissa = biased >> (exponent + 3) & 15
        return ~UInt8(truncatingIfNeeded: (sample < 0 ? 0x80 : 0) | exponent << 4 | mantissa)
    }

    /// A tone of 440 Hz at 8 kHz.
    private func telephoneTone(seconds: Double) -> [UInt8] {
        let samples = tone(440, seconds: seconds)
        return stride(from: 0, to: samples.count, by: 6).map { muLaw(samples[$0]) }
    }

    @Test("telephone sound becomes samples at 48 kHz, each in its place")
    func telephone() throws {
        let decoder = try AudioDecoder(AudioDescription(codec: "pcm_mulaw", rate: 8_000, channelCount: 1))
        #expect(decoder.channelCount == 1)
        let bytes = telephoneTone(seconds: 2)
        let start = now()
        var samples: [Float] = []
        for packet in 0..<bytes.count / 160 {
            let time = start + .milliseconds(20) * Int64(packet)
            let sound = AudioPacket(bytes: Array(bytes[packet * 160..<packet * 160 + 160]), captureTime: time)
            for piece in try decoder.decode(sound) {
                let place = start + ClockRate.audio.interval(of: Int64(samples.count))
                let captured = try #require(piece.captureTime)
                #expect(abs((captured - place).nanoseconds) < 200_000)
                samples += piece.samples.samples
            }
        }
        // A few samples are held back.
        #expect((95_000...96_000).contains(samples.count))
        let fit = ToneFit(440, in: Array(samples[24_000..<72_000]))
        #expect(fit.signalToNoise > 30)
        #expect(abs(fit.amplitude - 0.5) < 0.02)
        // Half a second is 220 periods, so the phase is that of the beginning.
        #expect(abs(fit.phase) < 0.1)
    }

    @Test("six channels become two, and another rate in the same stream is followed")
    func channels() throws {
        let decoder = try AudioDecoder(AudioDescription(codec: "pcm_s16be", rate: 44_100, channelCount: 6))
        #expect(decoder.channelCount == 2)
        // 0.1 s with the tone in the front channels.
        let source = tone(440, seconds: 0.1)
        var bytes: [UInt8] = []
        for index in 0..<4410 {
            let sample = UInt16(bitPattern: Int16(source[index] * 32_767))
            for channel in 0..<6 {
                bytes += channel < 2 ? [UInt8(sample >> 8), UInt8(truncatingIfNeeded: sample)] : [0, 0]
            }
        }
        let piece = try #require(try decoder.decode(AudioPacket(bytes: bytes)).first)
        #expect(piece.captureTime == nil)
        #expect(piece.samples.channelCount == 2)
        #expect((4_700...4_800).contains(piece.samples.frameCount))
        #expect(piece.samples.samples.contains { $0 > 0.1 })
    }

    @Test("the frames of one packet follow each other", .enabled(if: FFmpeg.isAvailable))
    func frames() throws {
        let made = try FFmpeg.run(
            ["-f", "lavfi", "-t", "0.5", "-i", "sine=440:sample_rate=48000", "-c:a", "mp2", "-b:a", "128k"]
                + ["-f", "mp2", "pipe:1"])
        // Each has 1,152 samples, and thus 384 bytes.
        let bytes = Array(made.bytes.prefix(3 * 384))
        try #require(bytes.count == 3 * 384, "\(made.messages)")
        let decoder = try AudioDecoder(AudioDescription(codec: "mp2", rate: 48_000, channelCount: 1))
        let start = now()
        let pieces = try decoder.decode(AudioPacket(bytes: bytes, captureTime: start))
        #expect(pieces.map(\.samples.frameCount) == [1152, 1152, 1152])
        let times = pieces.compactMap(\.captureTime).map { ($0 - start).milliseconds }
        #expect(times == [0, 24, 48])
    }

    @Test(
        "what is in all channels is as loud when they become others",
        arguments: [(1, 2), (2, 1), (2, 2), (3, 2), (6, 2), (8, 2), (6, 1)])
    func levels(from: Int, to: Int) throws {
        let input = SampleLayout(rate: 48_000, channelCount: from)
        let converter = try #require(
            SampleConverter(from: input, to: SampleLayout(rate: 48_000, channelCount: to)))
        let source = tone(440, seconds: 0.5, channelCount: from)
        let mixed = source.withUnsafeBufferPointer { Array(converter.convert($0)) }
        try #require(mixed.count == 24_000 * to)
        for channel in 0..<to {
            let fit = ToneFit(440, in: stride(from: channel, to: mixed.count, by: to).map { mixed[$0] })
            #expect(abs(fit.amplitude - 0.5) < 0.001)
        }
    }

    @Test("what exceeds a limit, and a codec without a decoder, is refused in one line")
    func limits() throws {
        for (stream, words) in [
            (AudioDescription(codec: "pcm_mulaw", rate: 4_000, channelCount: 1), "4000 Hz"),
            (AudioDescription(codec: "pcm_mulaw", rate: 8_000, channelCount: 9), "9 channels"),
            (AudioDescription(codec: "pcm_mulaw", rate: -1, channelCount: 1), "-1 Hz"),
            (AudioDescription(codec: "noise", rate: 8_000, channelCount: 1), "without a decoder for noise"),
            (AudioDescription(codec: "adpcm_yamaha", rate: 8_000, channelCount: 1), "adpcm_yamaha is not among"),
        ] {
            do {
                _ = try AudioDecoder(stream)
                Issue.record("\(stream)")
            } catch {
                #expect(error.description.contains(words), "\(error)")
            }
        }
        let decoder = try AudioDecoder(AudioDescription(codec: "pcm_mulaw", rate: 8_000, channelCount: 1))
        for count in [0, AudioDecoder.packetLimit + 1] {
            #expect(throws: AudioCodingError.self) {
                try decoder.decode(AudioPacket(bytes: [UInt8](repeating: 0xFF, count: count)))
            }
        }
        let next = try decoder.decode(AudioPacket(bytes: telephoneTone(seconds: 0.1)))
        #expect(!next.isEmpty)
    }

    @Test("no bytes stop a decoder", arguments: ["aac", "mp3", "adpcm_g726", "flac", "opus"])
    func noise(codec: String) throws {
        var random = SeededRandom(seed: 3)
        var stream = AudioDescription(codec: codec, rate: 8_000, channelCount: 1)
        stream.bitsPerSample = 4
        let decoder = try AudioDecoder(stream)
        for round in 0..<300 {
            let count = Int.random(in: 1...600, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let headers = round % 50 == 0 ? Array(bytes.prefix(5)) : []
            let pieces = (try? decoder.decode(AudioPacket(bytes: bytes, headers: headers, captureTime: now()))) ?? []
            #expect(pieces.allSatisfy { $0.samples.channelCount == 1 })
            if round % 100 == 99 { decoder.reset() }
        }
    }
}
