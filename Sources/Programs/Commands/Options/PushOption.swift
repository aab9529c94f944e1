import CommandLine
import MediaTypes
import OutputSettings
import Pushing

/// `--push URL[,track=NAME] [--preset PRESET]`, and `[push NAME]` in a settings file: where a track also goes, besides
/// the room.
struct PushOption {
    static let options = [
        Option(
            long: "push", value: .required("URL"),
            help:
                "also push the first track to this server or file: rtmp://HOST/APP/KEY, rtmps://, srt://HOST:PORT, "
                + "rtsp://HOST/PATH, whip:https://TOKEN@HOST/PATH or janus:wss://HOST#ROOM (WebRTC), file:NAME.mp4, "
                + ".mkv or .m3u8 (HLS), or the address in a stream object: object:FILE or object:https://...; "
                + "',track=[ROOM/]NAME' at the end pushes that track instead, whenever there is one; a URL's key or "
                + "token is never logged or listed; may be repeated",
            repeats: true, alsoSoughtAs: ["rtmp", "srt", "rtsp", "stream", "whip", "janus"], isSecret: true),
        Option(
            long: "preset", value: .required("PRESET"),
            help:
                "re-encode the preceding --push with these settings: low1 to low3, medium1 to medium3, high1 to high3, "
                + "or a list, which may follow a preset, of size=WxH, bitrate=RATE, adapt=LOWEST-RATE, fps=N, "
                + "adapt-fps=LOWEST, gop=PICTURES, profile=NAME and fit=bars or crop for the video, "
                + "sound-bitrate=RATE, sound-rate=HERTZ and sound-channels=1 or 2 for the sound, only=pictures "
                + "or sound to omit the other, and send-buffer=SIZE for RTMP; without it, both are sent unchanged",
            repeats: true, choices: VideoPreset.allCases.map(\.rawValue)),
        Option(
            long: "push-tries", value: .required("NUMBER"),
            help:
                "number of automatic retries after a push fails, 0 to 3; one whose name is in use at the server is tried "
                + "again for 45 s in any case", default: "0"),
    ].under(.pushing)

    /// The groups of a settings file that are pushes.
    static let group = NamedGroup(
        kind: "push", help: "a push in addition to those of --push; there can be many, each with another NAME",
        commands: ["share", "host"],
        keys: [
            Option(long: "url", value: .required("URL"), help: "the destination, as for --push", isSecret: true),
            Option(
                long: "preset", value: .required("PRESET"),
                help: "how to encode video and sound, as for --preset; without it, they are sent unchanged"),
            Option(
                long: "tries", value: .required("NUMBER"),
                help: "number of automatic retries, 0 to 3 (default: --push-tries)"),
        ])

    /// Where to push, and how.
    let pushes: [(label: PushLabel, settings: PushSettings)]
    /// Whether other machines may reach what this host listens at.
    let isOpenToNetwork: Bool

    /// Reads the options, and hides the keys from users who list processes.
    init(_ options: ParsedOptions) throws(UsageError) {
        SecretArguments.hide(options.values("push"))
        let wanted = try options.values("push", withDetail: "preset")
        let groups = options.groups.filter { $0.kind == Self.group.kind }
        if options.has("push-tries"), wanted.isEmpty, groups.isEmpty, options.place(of: "push-tries") == nil {
            throw UsageError("--push-tries: there is no push; add --push URL")
        }
        let tries = try options.required("push-tries", as: Self.triesFormat)
        isOpenToNetwork = options.has("lan")
        var pushes: [(label: PushLabel, settings: PushSettings)] = []
        for (url, preset) in wanted {
            var push = try Self.read(
                url, preset: preset, isOpenToNetwork: isOpenToNetwork, place: options.place(of: "push") ?? "--push")
            push.settings.tries = tries
            pushes.append(push)
        }
        for group in groups {
            guard let url = group.value("url") else {
                throw UsageError("\(group.place) has no url; write it like url=rtmp://HOST/APP/KEY")
            }
            var push = try Self.read(
                url, name: group.name, preset: group.value("preset"), isOpenToNetwork: isOpenToNetwork,
                place: group.place(of: "url"), presetPlace: group.place(of: "preset"))
            push.settings.tries = try group.value("tries", as: Self.triesFormat) ?? tries
            pushes.append(push)
        }
        self.pushes = pushes
    }

    private static let triesFormat = ValueFormat<Int>.integer(0...3, what: "number of retries")

    /// Reads a URL, with the track at its end, and the preset for it. `name` is the push's in the settings file.
    static func read(
        _ text: String, name: String? = nil, preset: String?, isOpenToNetwork: Bool, place: String = "--push",
        presetPlace: String = "--preset"
    ) throws(UsageError) -> (label: PushLabel, settings: PushSettings) {
        let (url, trackName) = TrackPlace.split(text)
        let track = trackName.flatMap { TrackPlace($0[...]) }
        // Without the name, which may have a part of a key.
        guard trackName == nil || track != nil else { throw UsageError("\(place): track=: \(TrackPlace.mistake)") }
        let target: PushTarget
        do throws(OutputSettingsError) {
            target = try PushTarget(url)
        } catch {
            // Without the URL, which may have a key: this may go to a journal.
            throw UsageError("\(place): \(error)")
        }
        guard isOpenToNetwork || !target.listensToOthers else {
            throw UsageError(
                "\(place): other machines can reach the address that it waits at; write "
                    + "srt://127.0.0.1:PORT?mode=listener, or start with --lan if they may")
        }
        var settings = PushSettings()
        try apply(preset, to: &settings, for: target, presetPlace: presetPlace)
        return (PushLabel(name: name, track: track, target: target), settings)
    }

    /// Reads the preset for a push to `target`; without one, pictures and sound go out as they are.
    static func apply(
        _ preset: String?, to settings: inout PushSettings, for target: PushTarget, presetPlace: String = "--preset"
    ) throws(UsageError) {
        let preset = try preset.map { text throws(UsageError) in try PushPreset.format.read(text, option: presetPlace) }
        if preset?.video?.adaptation != nil, !target.showsBacklog {
            throw UsageError("\(presetPlace): adapt= and adapt-fps= work only with rtmp, rtmps and srt")
        }
        (settings.video, settings.sound) = (preset?.video, preset?.sound)
        settings.content = preset?.content ?? .both
        if preset?.sendBuffer != nil, !target.hasSendBuffer {
            throw UsageError("\(presetPlace): send-buffer= works only with rtmp and rtmps")
        }
        settings.sendBuffer = preset?.sendBuffer ?? PushSettings().sendBuffer
        if target.takesWebRTC, !settings.suitsWebRTC {
            throw UsageError(
                "\(presetPlace): a push to whip or janus sends what viewers get; only=pictures is all that can be set")
        }
    }
}

/// What people call a push: its name in the settings file if it has one, its track unless it is the first one, and
/// where it goes.
struct PushLabel: Sendable, CustomStringConvertible {
    let name: String?
    /// Nil for the first track of the first room.
    let track: TrackPlace?
    let target: PushTarget

    /// "to rtmp://live.example/app/...", with a name "desk to rtmp://live.example/app/...", or with a track
    /// "of camera to rtmp://live.example/app/...".
    var description: String { (name.map { "\($0) " } ?? "") + (track.map { "of \($0) " } ?? "") + "to \(target)" }
}
