import MediaTypes
import Processes
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

/// A track that shows pictures of one brightness and sounds, and what became of both at the other end of a push.
final class SoundedTrack {
    private static let size = PictureSize(width: 176, height: 144)

    let folder: TemporaryFolder
    let host: ScreenRelayHost
    let track: CustomVideoTrack
    /// Nil while the track has no sound.
    var sound: ToneSource?
    private var pictureDue = now()
    private var lastAmplitude: Float? = 0
    private var random = SeededRandom(seed: 11)

    init(hasSound: Bool = true) throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        track = try CustomVideoTrack(picturesPerSecond: 25)
        guard host.firstTrack.publish(track) else { throw DeadlineMissed(what: "a track without pictures") }
        if hasSound { sound = try ToneSource(host.firstTrack) }
    }

    deinit { host.stop() }

    func start(
        _ url: String, _ settings: PushSettings = PushSettings(), told: Told = Told()
    ) throws -> Push {
        let push = try Push(host.firstTrack, to: try PushAddress(url), settings: settings) { told.take($0) }
        push.start()
        return push
    }

    /// Shows 25 pictures a second, of one brightness or of noise, and sounds as time goes by, until the condition
    /// holds. Without an amplitude no sound is sent.
    func go(
        on what: String, brightness: UInt8? = 16, amplitude: Float? = 0, until isOver: () throws -> Bool
    ) throws {
        try eventually(what) {
            try makeSound(amplitude)
            let time = now()
            if time >= pictureDue {
                track.write(picture: picture(brightness), captured: time)
                pictureDue = time + .milliseconds(40)
            }
            return try isOver()
        }
    }

    /// The same for this long, beginning with a picture.
    func go(for time: Interval, brightness: UInt8 = 16, amplitude: Float? = 0) throws {
        try makeSound(lastAmplitude)
        pictureDue = now()
        let end = pictureDue + time
        try go(on: "the time", brightness: brightness, amplitude: amplitude) { now() >= end }
    }

    private func makeSound(_ amplitude: Float?) throws {
        if let amplitude { try sound?.write(amplitude: amplitude) } else { sound?.skip() }
        lastAmplitude = amplitude
    }

    private func picture(_ brightness: UInt8?) -> I420Picture {
        let count = Self.size.width * Self.size.height
        let light =
            brightness.map { [UInt8](repeating: $0, count: count) }
            ?? (0..<count).map { _ in UInt8.random(in: 16...235, using: &random) }
        let bytes = light + [UInt8](repeating: 128, count: count / 2)
        return I420Picture(size: Self.size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: nil)
    }

    // MARK: What came out

    /// What ffprobe says of a file, line by line.
    static func probe(_ file: String, _ arguments: [String]) throws -> [String] {
        var launch = Launch("ffprobe", ["-v", "error", "-of", "csv=p=0"] + arguments + [file])
        launch.standardOutput = .text(limit: 1 << 20)
        let output = try ChildProcess.run(launch, within: .seconds(90)).output
        // Some lines end with a comma.
        return output.split(separator: "\n").map { line in
            line.split(separator: ",").joined(separator: ",")
        }
    }

    static func codecs(_ file: String) throws -> [String] { try probe(file, ["-show_entries", "stream=codec_name"]) }

    /// The codec, the rate and the channels of a file's sound.
    static func soundFormat(_ file: String) throws -> [String] {
        try probe(file, ["-select_streams", "a", "-show_entries", "stream=codec_name,sample_rate,channels"])
    }

    /// The times of a stream's packets, in seconds.
    private static func times(_ stream: String, _ file: String) throws -> [Double] {
        try probe(file, ["-select_streams", stream, "-show_entries", "packet=pts_time"]).compactMap {
            Double($0.split(separator: ",").first ?? "")
        }
    }

    /// The longest time between two packets of sound, in seconds.
    static func maxStep(_ file: String) throws -> Double {
        let times = try times("a", file)
        return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .infinity
    }

    /// When each tone begins and ends for a player that counts samples, in seconds. Holes of less than 0.3 s, as a busy
    /// machine makes them, don't count.
    static func tones(_ file: String) throws -> [ClosedRange<Double>] {
        let decoding = ["-map", "0:a:0", "-f", "s16le", "-ac", "1", "-ar", "48000", "pipe:1"]
        let bytes = try FFmpeg.run(["-i", file] + decoding).bytes
        let begin = try times("a", file).first ?? 0
        var found: [ClosedRange<Double>] = []
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            let sample = Int(Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8))
            guard abs(sample) > 6000 else { continue }
            let time = begin + Double(index / 2) / 48_000
            if let last = found.last, time - last.upperBound < 0.3 {
                found[found.count - 1] = last.lowerBound...time
            } else {
                found.append(time...time)
            }
        }
        return found
    }

    /// How much later the first tone begins than the first bright picture is shown, in seconds.
    static func offset(_ file: String) throws -> Double {
        let pictures = try FFmpeg.decode(file, to: "gray").bytes
        let count = size.width * size.height
        let times = try times("v", file)
        #expect(times.count == pictures.count / count)
        let flash = zip(times, 0...).first { _, index in
            let place = index * count + count / 2
            return place < pictures.count && pictures[place] > 128
        }
        let tones = try tones(file)
        #expect(tones.count == 1, "\(tones)")
        let (beginning, shown) = (try #require(tones.first).lowerBound, try #require(flash).0)
        return beginning - shown
    }
}
