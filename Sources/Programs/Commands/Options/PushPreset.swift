import CommandLine
import MediaTypes
import OutputSettings
import Pushing

/// The settings of `--preset`: the content of a push, and its encoding.
struct PushPreset {
    /// Nil if the pictures go out as they are.
    private(set) var video: VideoSettings?
    /// Nil if the sound goes out as it is, where that is possible.
    private(set) var sound: AudioSettings?
    private(set) var content = PushSettings.Content.both
    /// Nil for the usual one.
    private(set) var sendBuffer: Int?

    /// `high1`, `high1,fps=30`, `size=1280x720,bitrate=2M`, `sound-bitrate=96k,only=sound`
    static let format = ValueFormat<PushPreset> { (text) throws(ValueError) in
        // It may be a URL in the wrong place, with its key.
        guard !text.contains("://") else { throw ValueError("a URL isn't a preset") }
        var words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        var settings = PushPreset()
        if let first = words.first, !first.contains("=") {
            guard let preset = VideoPreset(rawValue: first) else {
                let names = VideoPreset.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValueError("no preset is called '\(first)'; they are \(names)")
            }
            (settings.video, settings.sound) = (preset.settings, preset.sound)
            words.removeFirst()
        }
        for word in words { try settings.set(word) }
        try settings.check()
        return settings
    }

    private func check() throws(ValueError) {
        do throws(OutputSettingsError) {
            try video?.check()
            try sound?.check()
        } catch {
            throw ValueError("\(error)")
        }
    }

    private mutating func set(_ word: String) throws(ValueError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (name, value) = (parts[0], parts.count == 2 ? parts[1] : "")
        if name == "only" {
            switch PushSettings.Content(rawValue: value) {
            case .pictures?: content = .pictures
            case .sound?: content = .sound
            case .both?, nil: throw ValueError("'\(word)': write only=pictures or only=sound")
            }
        } else if name == "send-buffer" {
            guard let count = kibibytes(value), PushSettings.sendBuffers.contains(count) else {
                throw ValueError("'\(word)' isn't a size from 16k to 16384k; write it like send-buffer=512k")
            }
            sendBuffer = count
        } else if name.hasPrefix("sound-") {
            var settings = sound ?? AudioSettings()
            try Self.set(name, value, word, in: &settings)
            sound = settings
        } else {
            var settings = video ?? VideoSettings()
            try Self.set(name, value, word, in: &settings)
            video = settings
        }
    }

    private static func set(
        _ name: String, _ value: String, _ word: String, in settings: inout AudioSettings
    ) throws(ValueError) {
        switch name {
        case "sound-bitrate": settings.bitRate = try rate(value, word, as: "sound-bitrate=96k or 128000")
        case "sound-rate": settings.sampleRate = try number(value, word)
        case "sound-channels": settings.channelCount = try number(value, word)
        default: throw unknown(word)
        }
    }

    private static func set(
        _ name: String, _ value: String, _ word: String, in settings: inout VideoSettings
    ) throws(ValueError) {
        switch name {
        case "size":
            let sides = value.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
            guard sides.count == 2, let width = sides[0], let height = sides[1], width > 0, height > 0 else {
                throw ValueError("'\(word)' isn't a size; write it like size=1280x720")
            }
            settings.size = PictureSize(width: width, height: height)
        case "bitrate": settings.bitRate = try rate(value, word, as: "bitrate=4M, 600k or 2500000")
        case "adapt": settings.lowestBitRate = try rate(value, word, as: "adapt=200k, for the lowest")
        case "fps": settings.framesPerSecond = try number(value, word)
        case "adapt-fps": settings.lowestFramesPerSecond = try number(value, word)
        case "gop": settings.picturesPerKeyFrame = try number(value, word)
        case "profile":
            guard let profile = ProfileLevel(rawValue: value) else {
                let names = ProfileLevel.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValueError("'\(word)' isn't a profile; they are \(names)")
            }
            settings.profileLevel = profile
        case "fit":
            guard let fitting = VideoSettings.Fitting(rawValue: value) else {
                throw ValueError("'\(word)': write fit=bars or fit=crop")
            }
            settings.fitting = fitting
        default: throw unknown(word)
        }
    }

    /// `512k`
    private func kibibytes(_ text: String) -> Int? {
        guard text.hasSuffix("k"), let count = Int(text.dropLast()), (0...1 << 20).contains(count) else { return nil }
        return count << 10
    }

    private static func unknown(_ word: String) -> ValueError {
        ValueError(
            "'\(word)' is not understood; write size=, bitrate=, adapt=, fps=, adapt-fps=, gop=, profile=, fit=, "
                + "sound-bitrate=, sound-rate=, sound-channels=, send-buffer= or only=")
    }

    private static func rate(_ text: String, _ word: String, as example: String) throws(ValueError) -> BitRate {
        guard let rate = try? ValueFormat<BitRate>.bitRate.read(text, option: "") else {
            throw ValueError("'\(word)' isn't a bit rate; write it like \(example)")
        }
        return rate
    }

    private static func number(_ text: String, _ word: String) throws(ValueError) -> Int {
        guard let number = Int(text) else { throw ValueError("'\(word)' has no whole number") }
        return number
    }
}
