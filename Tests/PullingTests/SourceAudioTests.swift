import MediaFiles
import MediaTypes
import Processes
import Pulling
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub
import VideoDecoding

@Suite("The sound of sources", .enabled(if: FFmpeg.isAvailable), .serialized)
struct SourceAudioTests {
    /// How FFmpeg makes a file, and what libavcodec calls its sound.
    struct Recipe: Sendable, CustomTestStringConvertible {
        let sound: [String]
        let file: String
        let name: String
        var hasPictures = true
        var encoder = "libx264"

        var testDescription: String { "\(name) in \(file)" }
    }

    static let recipes = [
        Recipe(sound: ["aac", "-b:a", "128k"], file: "a.mp4", name: "aac"),
        Recipe(sound: ["pcm_mulaw", "-ar", "8000", "-ac", "1"], file: "a.mkv", name: "pcm_mulaw"),
        Recipe(sound: ["pcm_alaw", "-ar", "8000", "-ac", "1"], file: "a.mov", name: "pcm_alaw"),
        Recipe(sound: ["libmp3lame", "-ac", "2"], file: "a.avi", name: "mp3"),
        Recipe(sound: ["aac", "-ac", "6"], file: "a.ts", name: "aac"),
        Recipe(sound: ["pcm_s16be"], file: "a.aiff", name: "pcm_s16be", hasPictures: false),
        Recipe(
            sound: ["pcm_mulaw", "-ar", "8000", "-ac", "1"], file: "a.wav", name: "pcm_mulaw", hasPictures: false),
    ]

    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let lines = LoggedLines()

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
    }

    /// Writes a file of `seconds` whose sound is the tone of 440 Hz while `isHeard`, an expression of FFmpeg's.
    private func make(
        _ recipe: Recipe, seconds: Int = 2, pictures: String = "testsrc2=size=160x120:rate=25", isHeard: String = "1"
    ) throws -> String {
        let path = folder.file(recipe.file)
        let tuning = recipe.encoder == "libx264" ? ["-tune", "zerolatency"] : []
        let video = ["-pix_fmt", "yuv420p", "-c:v", recipe.encoder, "-g", "25"] + tuning
        let made = try FFmpeg.run(
            [
                "-f", "lavfi", "-t", "\(seconds)", "-i", pictures, "-f", "lavfi", "-t", "\(seconds)", "-i",
                "aevalsrc='0.5*sin(2*PI*440*t)*\(isHeard)':s=48000",
            ] + (recipe.hasPictures ? video : ["-vn"]) + ["-c:a"] + recipe.sound + [path])
        try #require(made.status == .exited(0), "\(made.messages)")
        return path
    }

    /// Reads a file to its end, and returns what was heard of it.
    private func heard(_ path: String) throws -> (sound: HeardSound, pull: Pull) {
        var sound = try HeardSound(host.firstTrack)
        let pull = try Pull(try PullAddress("file:\(path)"), into: host.firstTrack, log: lines.log)
        try eventually("the end of the file") {
            try sound.take()
            return lines.contain("has ended")
        }
        try sound.take()
        return (sound, pull)
    }

    @Test("is a track of Opus, whatever its codec", arguments: recipes)
    func codecs(_ recipe: Recipe) throws {
        defer { host.stop() }
        let path = try make(recipe)
        let (sound, pull) = try heard(path)
        defer { pull.stop() }
        // All of it was heard, but for the packet that wasn't full and for what came while the clock was found.
        #expect((91_000...100_000).contains(sound.samples.count))
        #expect(sound.isTone(from: 24_000) && sound.isTone(from: 48_000))
        let pictures = recipe.hasPictures ? "H.264 of 160x120, and " : ""
        #expect(lines.contain("sends \(pictures)\(recipe.name), which is converted to Opus"))
        #expect(pull.pictures == (recipe.hasPictures ? 50 : 0))
        #expect(host.firstTrack.soundState == AudioState.none)
    }

    @Test(
        "is in step with pictures that pass, and with pictures that are decoded",
        arguments: [("a.mp4", "libx264"), ("a.flv", "libx264"), ("a.mkv", "libx264"), ("b.mp4", "mpeg4")])
    func inStep(_ file: String, _ encoder: String) throws {
        defer { host.stop() }
        let flash = "color=black:size=160x120:rate=25,drawbox=color=white:t=fill:enable='between(t,1,1.4)'"
        let recipe = Recipe(sound: ["aac", "-b:a", "128k"], file: file, name: "aac", encoder: encoder)
        let path = try make(recipe, seconds: 3, pictures: flash, isHeard: "between(t,1,1.4)")
        var sound = try HeardSound(host.firstTrack)
        let reader = host.firstTrack.subscribe {}
        let pull = try Pull(try PullAddress("file:\(path)"), into: host.firstTrack, log: lines.log)
        defer { pull.stop() }
        let decoder = try H264Decoder()
        var flashed: Double?
        try eventually("the end of the file") {
            try sound.take()
            for frame in reader.take() {
                let picture = try decoder.decode(frame.coded, copying: true).last
                if flashed == nil, let light = picture?.bytes.first, light > 128 {
                    flashed = Double(frame.time.ticks) / 90_000
                }
            }
            return lines.contain("has ended")
        }
        let (heard, seen) = (try #require(sound.onset), try #require(flashed))
        #expect(abs(heard - seen) < 0.04, "\(heard) for \(seen)")
    }

    @Test("in Opus comes as it is, byte for byte", arguments: ["a.mkv", "a.ts"])
    func opus(_ file: String) throws {
        defer { host.stop() }
        let path = try make(Recipe(sound: ["libopus"], file: file, name: "opus"))
        let reader = try MediaReader(address: "file:" + path, connection: MediaConnection())
        var packets: [[UInt8]] = []
        while let piece = try reader.next() {
            if case .sound(let packet) = piece.content { packets.append(packet.bytes) }
        }
        #expect(packets.count > 90)
        let (sound, pull) = try heard(path)
        defer { pull.stop() }
        #expect(sound.packets == packets)
        #expect(lines.contain("sends H.264 of 160x120, and Opus"))
    }

    @Test("is left out where the track has other sound, and the pictures come")
    func occupied() throws {
        defer { host.stop() }
        let other = CustomAudioTrack()
        #expect(host.firstTrack.publish(other))
        let path = try make(Self.recipes[0])
        let pull = try Pull(try PullAddress("file:\(path)"), into: host.firstTrack, log: lines.log)
        defer { pull.stop() }
        try eventually("the end of the file") { lines.contain("has ended") }
        #expect(lines.contain("sends H.264 of 160x120; not taken: aac"))
        #expect(pull.pictures == 50)
        #expect(host.firstTrack.soundState == AudioState.live)
        other.end(reason: "it was a test")
    }
}
