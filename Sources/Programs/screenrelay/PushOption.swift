import CommandLine
import MediaTypes
import OutputSettings
import Pushing

/// `--push URL [--preset PRESET]`: where the first track also goes, besides the room.
struct PushOption {
    static let options = [
        Option(
            long: "push", value: .required("URL"),
            help:
                "also send the first track to this server or file: rtmp://HOST/APP/KEY, rtmps://, srt://HOST:PORT, "
                + "rtsp://HOST/PATH, file:NAME.mp4, .mkv or .m3u8 (HLS); a URL's key is shown nowhere; may be repeated",
            repeats: true, alsoSoughtAs: ["rtmp", "srt", "rtsp", "stream"]),
        Option(
            long: "preset", value: .required("PRESET"),
            help:
                "encode the pictures of the --push before it once more: low1 to low3, medium1 to medium3, high1 to high3, "
                + "or a list of size=WxH, bitrate=RATE, adapt=LOWEST-RATE, fps=N, gop=PICTURES, profile=NAME and fit=bars or "
                + "crop, which may follow a preset; without it, they go out as they are",
            repeats: true, choices: VideoPreset.allCases.map(\.rawValue)),
        Option(
            long: "push-tries", value: .required("NUMBER"),
            help: "how often a push that has failed is tried again by itself, 0 to 3", default: "0"),
    ]

    /// Where to push, and how.
    let pushes: [(address: PushAddress, settings: PushSettings)]

    /// Reads the options, and hides the keys from those who list processes.
    init(_ options: ParsedOptions) throws(UsageError) {
        SecretArguments.hide(options.values("push"))
        let wanted = try options.values("push", withDetail: "preset")
        if options.has("push-tries"), wanted.isEmpty, options.place(of: "push-tries") == nil {
            throw UsageError("--push-tries: there is no push; add --push URL")
        }
        let tries = try options.required("push-tries", as: .integer(0...3, what: "number of tries"))
        var pushes: [(address: PushAddress, settings: PushSettings)] = []
        for (url, preset) in wanted {
            var (address, settings) = try Self.read(url, preset: preset, place: options.place(of: "push") ?? "--push")
            settings.tries = tries
            pushes.append((address, settings))
        }
        self.pushes = pushes
    }

    /// Reads a URL and the preset for it.
    static func read(
        _ url: String, preset: String?, place: String = "--push"
    ) throws(UsageError) -> (address: PushAddress, settings: PushSettings) {
        var settings = PushSettings()
        if let preset { settings.video = try Self.preset.read(preset, option: "--preset") }
        do throws(OutputError) {
            let address = try PushAddress(url)
            if settings.video?.lowestBitRate != nil, !address.showsBacklog {
                throw OutputError("adapt= works with rtmp and rtmps alone")
            }
            return (address, settings)
        } catch {
            // Without the URL, which may have a key: this may go to a journal.
            throw UsageError("\(place): \(error)")
        }
    }

    /// `high1`, `high1,fps=30`, `size=1280x720,bitrate=2M`
    private static let preset = ValueFormat<VideoSettings> { (text) throws(ValueProblem) in
        var words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        var settings = VideoSettings()
        if let first = words.first, !first.contains("=") {
            guard let preset = VideoPreset(rawValue: first) else {
                let names = VideoPreset.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValueProblem("no preset is called '\(first)'; they are \(names)")
            }
            settings = preset.settings
            words.removeFirst()
        }
        for word in words { try set(word, in: &settings) }
        do throws(VideoSettingsError) {
            try settings.check()
        } catch {
            throw ValueProblem("\(error)")
        }
        return settings
    }

    private static func set(_ word: String, in settings: inout VideoSettings) throws(ValueProblem) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let value = parts.count == 2 ? parts[1] : ""
        switch parts[0] {
        case "size":
            let sides = value.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
            guard sides.count == 2, let width = sides[0], let height = sides[1], width > 0, height > 0 else {
                throw ValueProblem("'\(word)' isn't a size; write it like size=1280x720")
            }
            settings.size = PictureSize(width: width, height: height)
        case "bitrate":
            guard let rate = try? ValueFormat<BitRate>.bitRate.read(value, option: "") else {
                throw ValueProblem("'\(word)' isn't a bit rate; write it like bitrate=4M, 600k or 2500000")
            }
            settings.bitRate = rate
        case "adapt":
            guard let rate = try? ValueFormat<BitRate>.bitRate.read(value, option: "") else {
                throw ValueProblem("'\(word)' isn't a bit rate; write it like adapt=200k, for the lowest")
            }
            settings.lowestBitRate = rate
        case "fps": settings.framesPerSecond = try number(value, word)
        case "gop": settings.picturesPerKeyFrame = try number(value, word)
        case "profile":
            guard let profile = ProfileLevel(rawValue: value) else {
                let names = ProfileLevel.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValueProblem("'\(word)' isn't a profile; they are \(names)")
            }
            settings.profileLevel = profile
        case "fit":
            guard let fitting = VideoSettings.Fitting(rawValue: value) else {
                throw ValueProblem("'\(word)': write fit=bars or fit=crop")
            }
            settings.fitting = fitting
        default:
            throw ValueProblem(
                "'\(word)' is not understood; write size=, bitrate=, adapt=, fps=, gop=, profile= or fit=")
        }
    }

    private static func number(_ text: String, _ word: String) throws(ValueProblem) -> Int {
        guard let number = Int(text) else { throw ValueProblem("'\(word)' has no whole number") }
        return number
    }
}
