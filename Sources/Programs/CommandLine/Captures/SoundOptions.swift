public import MediaTypes

/// Which sounds are shared.
public enum SoundSourceChoice: String, CaseIterable, Sendable {
    case desktop, microphone, both
}

/// The options of the capture of sound, for `screenrelay-sound`.
public struct SoundOptions: Sendable, Equatable {
    /// The captured sound.
    public var source: SoundSourceChoice
    /// The sink whose sound is captured, or nil for the default.
    public var desktopDevice: String?
    /// The microphone, or nil for the default.
    public var microphoneDevice: String?
    /// How much louder what programs play becomes, in decibels.
    public var desktopGain: Int
    /// How much louder the microphone becomes, in decibels.
    public var microphoneGain: Int
    /// 1 or 2.
    public var channelCount: Int
    /// The highest bit rate.
    public var bitRate: BitRate

    /// Reads the options that the user wrote.
    ///
    /// - Throws: ``UsageError`` that names the option whose value is invalid or that doesn't go with `--source`.
    public init(_ parsed: ParsedOptions) throws(UsageError) {
        source = try parsed.required("source", as: .choice)
        desktopDevice = try parsed.value("desktop-device", as: .text)
        microphoneDevice = try parsed.value("microphone-device", as: .text)
        desktopGain = try parsed.required("desktop-gain", as: .decibels)
        microphoneGain = try parsed.required("microphone-gain", as: .decibels)
        // Most microphones have one channel.
        let channelCount = try parsed.value("channels", as: .integer(1...2, what: "number of channels"))
        self.channelCount = channelCount ?? (source == .microphone ? 1 : 2)
        bitRate = try parsed.required("bitrate", as: .soundBitRate)
        if source == .desktop, microphoneDevice != nil {
            throw UsageError("--microphone-device is for --source microphone or both")
        }
        if source == .microphone, desktopDevice != nil {
            throw UsageError("--desktop-device is for --source desktop or both")
        }
    }

    /// The options for a command's table.
    public static let options = [
        Option(
            long: "source", value: .required("SOURCE"),
            help: "share what programs play (desktop), a microphone (microphone), or both mixed (both)",
            default: SoundSourceChoice.desktop.rawValue, choices: SoundSourceChoice.allCases.map(\.rawValue)),
        Option(long: "list", help: "show the sinks and microphones that can be shared and exit"),
        Option(
            long: "desktop-device", value: .required("NAME"),
            help: "share the output of this sink, even if it is not the default; --list names them"),
        Option(
            long: "microphone-device", value: .required("NAME"),
            help: "share this microphone, even if it is not the default; --list names them"),
        Option(
            long: "desktop-gain", value: .required("DB"),
            help: "amplify the desktop's sound by this many decibels, -60 to 20", default: "0"),
        Option(
            long: "microphone-gain", value: .required("DB"),
            help: "amplify the microphone by this many decibels, -60 to 20", default: "0"),
        Option(
            long: "channels", value: .required("N"),
            help: "send mono (1) or stereo (2); without it, mono for only a microphone and stereo otherwise",
            choices: ["1", "2"]),
        Option(
            long: "bitrate", short: "b", value: .required("RATE"),
            help: "maximum average bit rate, 16k to 128k bits per second", default: "96k"),
    ].under(.sound)
}

extension ValueFormat where Value == Int {
    /// A gain in decibels, -60 to 20.
    public static var decibels: ValueFormat<Int> {
        ValueFormat(orProblem: "not a gain; write a whole number of decibels from -60 to 20") { text in
            let digits = text.drop { $0 == "-" }
            guard text.utf8.count - digits.utf8.count <= 1, let size = decimalInteger(String(digits)) else {
                return nil
            }
            let gain = digits.count < text.count ? -size : size
            return (-60...20).contains(gain) ? gain : nil
        }
    }
}

extension ValueFormat where Value == BitRate {
    /// Bits a second of sound: 16k to 128k.
    static var soundBitRate: ValueFormat<BitRate> {
        ValueFormat { (text) throws(ValueError) in
            let problem = ValueError("not a bit rate of sound; write it like 96k, from 16k to 128k")
            guard let rate = try? ValueFormat.bitRate.read(text, option: "") else { throw problem }
            guard (16_000...128_000).contains(rate.bitsPerSecond) else { throw problem }
            return rate
        }
    }
}
