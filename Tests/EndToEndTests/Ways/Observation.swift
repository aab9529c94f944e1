import MediaTypes
import Processes
import TestSupport

/// What was seen and heard at one way out, in its order. Times are in seconds and compare only with each other.
struct Observation {
    /// When there was a frame, and its digest.
    private var frames: [(time: Double, digest: Substring)] = []
    /// Tenths of a second of audio, and whether each is the tone and hardly anything else.
    private var audio: [(time: Double, isTone: Bool)] = []

    /// Reads what `Clients/witness.py`, or a page, has written: the lines since `begin`.
    init(report: String, since begin: Double = 0) {
        for line in report.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ")
            guard words.count == 3, let time = Double(words[1]), time >= begin else { continue }
            if words[0] == "v" { frames.append((time, words[2])) } else { audio.append((time, words[2] == "1")) }
        }
    }

    /// What there was between these times.
    func during(_ times: ClosedRange<Double>) -> Observation {
        var part = self
        part.frames.removeAll { !times.contains($0.time) }
        part.audio.removeAll { !times.contains($0.time) }
        return part
    }

    /// When a frame was another one than the one before.
    private var changes: [Double] {
        zip(frames, frames.dropFirst()).filter { $0.digest != $1.digest }.map(\.1.time)
    }

    private var differentFrames: Int { Set(frames.map(\.digest)).count }

    /// Whether there were ten different frames.
    var isMoving: Bool { differentFrames >= 10 }

    /// When the last frame came.
    var lastFrame: Double? { frames.last?.time }

    /// Whether half a second is the tone, each tenth by itself: while the place of the audio is corrected, its pitch
    /// isn't quite the same.
    var hasTone: Bool {
        var inARow = 0
        for (_, isTone) in audio {
            inARow = isTone ? inARow + 1 : 0
            if inARow >= 5 { return true }
        }
        return false
    }

    /// The stretches of two seconds and more without the tone, with the tone before and after.
    private var silences: [ClosedRange<Double>] {
        let tones = audio.filter(\.isTone).map(\.time)
        return zip(tones, tones.dropFirst()).filter { $1 - $0 > 2 }.map { $0...$1 }
    }

    /// Whether frames and tone stopped together for some time, and went on.
    var showsPause: Bool {
        let changes = changes
        return silences.contains { silence in
            zip(changes, changes.dropFirst()).contains { from, to in
                to - from > 2 && min(to, silence.upperBound) - max(from, silence.lowerBound) > 1.5
            }
        }
    }

    /// Whether the tone stopped for some time, and went on, while frames went on changing.
    var hasMute: Bool {
        let changes = changes
        return silences.contains { silence in
            let during = changes.filter { silence.contains($0) }
            return during.count >= 10 && zip(during, during.dropFirst()).allSatisfy { $1 - $0 < 1 }
                && during[0] - silence.lowerBound < 1 && silence.upperBound - (during.last ?? 0) < 1
        }
    }

    /// For messages: how much there was, and where the tone and the changes broke off.
    var summary: String {
        func breaks(_ times: [Double]) -> [String] {
            guard let first = times.first, let last = times.last else { return ["none"] }
            return ["from \(first)"]
                + zip(times, times.dropFirst()).filter { $1 - $0 > 0.7 }.map { "break \($0)-\($1)" } + ["to \(last)"]
        }
        return "\(differentFrames) different frames; changes \(breaks(changes)); tone "
            + "\(breaks(audio.filter(\.isTone).map(\.time))) in \(audio.count) tenths"
    }
}

/// A file that FFmpeg decodes: its frames' digests, and its audio with silence where it has gaps.
struct DecodedFile {
    private let process: ChildProcess
    private let digests: String
    private let hertz: Double

    /// Begins to decode a file with a tone of so many hertz; several can be decoded at once.
    init(_ file: String, hertz: Double = 440, in folder: TemporaryFolder) throws {
        self.hertz = hertz
        digests = folder.file("\(now().nanoseconds).digests")
        var launch = Launch(
            "ffmpeg",
            [
                "-hide_banner", "-nostdin", "-v", "error", "-copyts", "-i", file, "-map", "0:v:0", "-fps_mode",
                "passthrough",
            ]
                + ["-f", "framemd5", digests, "-map", "0:a:0", "-ac", "1", "-ar", "48000"]
                + ["-af", "aresample=async=1:first_pts=0", "-f", "f32le", "pipe:1"])
        launch.standardOutput = .text(limit: 64 << 20)
        launch.standardError = .text(limit: 1 << 16)
        process = try ChildProcess(launch)
    }

    /// Waits for the end, and returns what there was. What can't be decoded isn't there.
    func observation() throws -> Observation {
        _ = try eventually("the end of decoding") { process.poll() }
        process.output?.waitForEnd(within: .seconds(10))
        var report = ""
        var tick = 0.0
        let frames = (try? fileBytes(digests)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        for line in frames.split(separator: "\n") {
            if line.hasPrefix("#tb 0: ") {
                let parts = line.dropFirst(7).split(separator: "/").compactMap { Double($0) }
                tick = parts.count == 2 ? parts[0] / parts[1] : 0
            }
            let words = line.split(separator: ",").map { $0.filter { $0 != " " } }
            guard !line.hasPrefix("#"), words.count >= 6, let time = Double(words[2]) else { continue }
            report += "v \(time * tick) \(words[5])\n"
        }
        let bytes = process.output?.bytes ?? []
        let samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        for start in stride(from: 0, through: samples.count - 4800, by: 4800) {
            let fit = ToneFit(hertz, in: Array(samples[start..<start + 4800]))
            let isTone = fit.amplitude > 0.05 && fit.signalToNoise > 15
            report += "a \(Double(start + 4800) / 48_000) \(isTone ? 1 : 0)\n"
        }
        return Observation(report: report)
    }
}
