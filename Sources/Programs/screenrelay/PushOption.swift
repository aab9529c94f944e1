import CommandLine
import MediaTypes
import OutputSettings
import Pushing

/// `--push URL [--preset PRESET]`, and `[push NAME]` in a settings file: where the first track also goes, besides the
/// room.
struct PushOption {
    static let options = [
        Option(
            long: "push", value: .required("URL"),
            help:
                "also send the first track to this server or file: rtmp://HOST/APP/KEY, rtmps://, srt://HOST:PORT, "
                + "rtsp://HOST/PATH, file:NAME.mp4, .mkv or .m3u8 (HLS), or the one that a stream object "
                + "names: object:FILE or object:https://...; a URL's key is shown nowhere; may be repeated",
            repeats: true, alsoSoughtAs: ["rtmp", "srt", "rtsp", "stream"], isSecret: true),
        Option(
            long: "preset", value: .required("PRESET"),
            help:
                "encode the pictures of the --push before it once more: low1 to low3, medium1 to medium3, high1 to high3, "
                + "or a list of size=WxH, bitrate=RATE, adapt=LOWEST-RATE, fps=N, adapt-fps=LOWEST, gop=PICTURES, "
                + "profile=NAME and fit=bars or crop, which may follow a preset; without it, they go out as they are",
            repeats: true, choices: VideoPreset.allCases.map(\.rawValue)),
        Option(
            long: "push-tries", value: .required("NUMBER"),
            help: "how often a push that has failed is tried again by itself, 0 to 3", default: "0"),
    ]

    /// The groups of a settings file that are pushes.
    static let group = NamedGroup(
        kind: "push", help: "a push in addition to those of --push; there can be many, each with another NAME",
        commands: ["share", "host"],
        keys: [
            Option(long: "url", value: .required("URL"), help: "where to, as for --push", isSecret: true),
            Option(
                long: "preset", value: .required("PRESET"),
                help: "encode the pictures once more, as for --preset; without it, they go out as they are"),
            Option(
                long: "tries", value: .required("NUMBER"),
                help: "how often it is tried again by itself, 0 to 3; without it, as --push-tries says"),
        ])

    /// Where to push, and how.
    let pushes: [(label: PushLabel, settings: PushSettings)]

    /// Reads the options, and hides the keys from those who list processes.
    init(_ options: ParsedOptions) throws(UsageError) {
        SecretArguments.hide(options.values("push"))
        let wanted = try options.values("push", withDetail: "preset")
        let groups = options.groups.filter { $0.kind == Self.group.kind }
        if options.has("push-tries"), wanted.isEmpty, groups.isEmpty, options.place(of: "push-tries") == nil {
            throw UsageError("--push-tries: there is no push; add --push URL")
        }
        let tries = try options.required("push-tries", as: Self.triesFormat)
        var pushes: [(label: PushLabel, settings: PushSettings)] = []
        for (url, preset) in wanted {
            var (target, settings) = try Self.read(url, preset: preset, place: options.place(of: "push") ?? "--push")
            settings.tries = tries
            pushes.append((PushLabel(name: nil, target: target), settings))
        }
        for group in groups {
            guard let url = group.value("url") else {
                throw UsageError("\(group.place) has no url; write it like url=rtmp://HOST/APP/KEY")
            }
            var (target, settings) = try Self.read(
                url, preset: group.value("preset"), place: group.place(of: "url"),
                presetPlace: group.place(of: "preset"))
            settings.tries = try group.value("tries", as: Self.triesFormat) ?? tries
            pushes.append((PushLabel(name: group.name, target: target), settings))
        }
        self.pushes = pushes
    }

    private static let triesFormat = ValueFormat<Int>.integer(0...3, what: "number of tries")

    /// Reads a URL and the preset for it.
    static func read(
        _ url: String, preset: String?, place: String = "--push", presetPlace: String = "--preset"
    ) throws(UsageError) -> (target: PushTarget, settings: PushSettings) {
        let target: PushTarget
        do throws(OutputError) {
            target = try PushTarget(url)
        } catch {
            // Without the URL, which may have a key: this may go to a journal.
            throw UsageError("\(place): \(error)")
        }
        var settings = PushSettings()
        settings.video = try video(preset, for: target, place: place, presetPlace: presetPlace)
        return (target, settings)
    }

    /// Reads the preset for a push to `target`; nil if the frames go out as they are.
    static func video(
        _ preset: String?, for target: PushTarget, place: String, presetPlace: String = "--preset"
    ) throws(UsageError) -> VideoSettings? {
        guard let preset else { return nil }
        let video = try Self.preset.read(preset, option: presetPlace)
        if video.adaptation != nil, !target.showsBacklog {
            throw UsageError("\(place): adapt= and adapt-fps= work with rtmp and rtmps alone")
        }
        return video
    }

    /// `high1`, `high1,fps=30`, `size=1280x720,bitrate=2M`
    static let preset = ValueFormat<VideoSettings> { (text) throws(ValueProblem) in
        // It may be a URL in the wrong place, with its key.
        guard !text.contains("://") else { throw ValueProblem("a URL isn't a preset") }
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
        case "adapt-fps": settings.lowestFramesPerSecond = try number(value, word)
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
                "'\(word)' is not understood; write size=, bitrate=, adapt=, fps=, adapt-fps=, gop=, profile= or fit=")
        }
    }

    private static func number(_ text: String, _ word: String) throws(ValueProblem) -> Int {
        guard let number = Int(text) else { throw ValueProblem("'\(word)' has no whole number") }
        return number
    }
}

/// What people call a push: its name in the settings file if it has one, and where it goes.
struct PushLabel: Sendable, CustomStringConvertible {
    let name: String?
    let target: PushTarget

    /// "to rtmp://live.example/app/...", or with a name "desk to rtmp://live.example/app/...".
    var description: String { (name.map { "\($0) " } ?? "") + "to \(target)" }
}
