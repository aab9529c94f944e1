import CommandLine
import MediaTypes
import Testing

@Suite("The options of the capture of sound")
struct SoundOptionsTests {
    private func options(_ words: [String]) throws -> SoundOptions {
        try SoundOptions(Command.soundProgram.parse(words, program: "screenrelay-sound"))
    }

    @Test("the desktop in stereo is the default, and a microphone alone is mono")
    func defaults() throws {
        let desktop = try options([])
        #expect(desktop.source == .desktop && desktop.channelCount == 2 && desktop.desktopGain == 0)
        #expect(desktop.bitRate == BitRate(bitsPerSecond: 96_000))
        #expect(try options(["--source", "microphone"]).channelCount == 1)
        #expect(try options(["--source", "microphone", "--channels", "2"]).channelCount == 2)
        #expect(try options(["--source=both"]).channelCount == 2)
    }

    @Test("gains may be negative, and stay between -60 and 20 dB")
    func gains() throws {
        #expect(try options(["--desktop-gain", "-6"]).desktopGain == -6)
        #expect(try options(["--source", "both", "--microphone-gain=20"]).microphoneGain == 20)
        for wrong in ["21", "-61", "--6", "6dB", "", "-"] {
            #expect(throws: UsageError.self) { try options(["--desktop-gain=\(wrong)"]) }
        }
    }

    @Test("a bit rate that no sound needs, and a device of a source that isn't captured, are mistakes")
    func mistakes() throws {
        #expect(try options(["-b", "64k"]).bitRate == BitRate(bitsPerSecond: 64_000))
        for wrong in [["-b", "4M"], ["-b", "15k"], ["--microphone-device", "mic"], ["--channels", "3"]] {
            #expect(throws: UsageError.self) { try options(wrong) }
        }
        #expect(throws: UsageError.self) { try options(["--source", "microphone", "--desktop-device", "out"]) }
        #expect(throws: UsageError.self) { try options(["--source", "none"]) }
    }
}
