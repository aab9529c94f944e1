import MediaTypes
import OutputSettings
import Testing

@Suite("The settings of an output's sound")
struct AudioSettingsTests {
    @Test("bit rates from 64 to 128 kbit/s, three sample rates, and one or two channels are taken")
    func taken() throws {
        for kilobits in [64, 96, 100, 128] {
            for rate in [32_000, 44_100, 48_000] {
                for channels in [1, 2] {
                    var settings = AudioSettings()
                    settings.bitRate = BitRate(bitsPerSecond: kilobits * 1000)
                    settings.sampleRate = rate
                    settings.channelCount = channels
                    try settings.check()
                }
            }
        }
    }

    @Test(
        "anything else is refused, and the limit named",
        arguments: [
            (\AudioSettings.bitRate.bitsPerSecond, 63_999, "sound at 63 kbit/s; there can be 64 to 128 kbit/s"),
            (\.bitRate.bitsPerSecond, 129_000, "sound at 129 kbit/s; there can be 64 to 128 kbit/s"),
            (\.sampleRate, 22_050, "sound of 22050 Hz; there can be 32000, 44100 or 48000"),
            (\.channelCount, 0, "sound of 0 channels; there can be 1 or 2"),
            (\.channelCount, 3, "sound of 3 channels; there can be 1 or 2"),
        ] as [(any WritableKeyPath<AudioSettings, Int> & Sendable, Int, String)])
    func refused(_ path: any WritableKeyPath<AudioSettings, Int> & Sendable, _ value: Int, _ reason: String) {
        var settings = AudioSettings()
        settings[keyPath: path] = value
        let error = #expect(throws: OutputSettingsError.self) { try settings.check() }
        #expect(error.map { "\($0)" } == reason)
    }

    @Test("each preset has a sound, better with better pictures")
    func presets() throws {
        for preset in VideoPreset.allCases { try preset.sound.check() }
        #expect(
            [VideoPreset.low1, .medium3, .high2].map(\.sound.bitRate.bitsPerSecond) == [64_000, 96_000, 128_000])
        #expect(VideoPreset.allCases.allSatisfy { $0.sound.sampleRate == 44_100 && $0.sound.channelCount == 2 })
    }
}
