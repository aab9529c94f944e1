import Glibc
import MediaFiles
import MediaTypes
import Processes
import ScreenRelayKit
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub
import VideoDecoding

@testable import Pulling

@Suite("Sources of other codecs than H.264", .enabled(if: FFmpeg.isAvailable), .serialized)
struct DecodedSourceTests {
    /// How FFmpeg makes a file, and what libavcodec calls its codec.
    struct Recipe: Sendable, CustomTestStringConvertible {
        let encoder: String
        let options: [String]
        let file: String
        let name: String
        var pixels = "yuv420p"
        /// The same in 4:2:0.
        var reference = "yuv420p"
        /// Why H.264 doesn't pass as it is.
        var traits = ""

        var testDescription: String { encoder + traits }
    }

    static let recipes = [
        Recipe(encoder: "mpeg4", options: ["-bf", "2"], file: "a.mkv", name: "MPEG4"),
        Recipe(
            encoder: "libx265", options: ["-preset", "ultrafast", "-x265-params", "log-level=error"], file: "a.mp4",
            name: "HEVC"),
        Recipe(
            encoder: "mjpeg", options: [], file: "a.avi", name: "MJPEG", pixels: "yuvj422p", reference: "yuvj420p"),
        Recipe(encoder: "libvpx", options: ["-deadline", "realtime"], file: "a.webm", name: "VP8"),
        Recipe(encoder: "libvpx-vp9", options: ["-deadline", "realtime"], file: "a.webm", name: "VP9"),
        Recipe(encoder: "mpeg2video", options: ["-bf", "2"], file: "a.ts", name: "MPEG2VIDEO"),
        Recipe(
            encoder: "libaom-av1", options: ["-usage", "realtime", "-cpu-used", "8"], file: "a.mp4", name: "AV1"),
        Recipe(encoder: "libx264", options: ["-bf", "2"], file: "a.mp4", name: "H.264", traits: " with B-frames"),
        Recipe(encoder: "libx264", options: ["-bf", "2"], file: "a.ts", name: "H.264", traits: " with B-frames"),
        Recipe(
            encoder: "libx264", options: ["-bf", "0"], file: "a.mp4", name: "H.264", pixels: "yuv422p",
            traits: " in 4:2:2"),
        Recipe(
            encoder: "libx264", options: ["-bf", "0"], file: "a.mkv", name: "H.264", pixels: "yuv444p",
            traits: " in 4:4:4"),
        // Lossless pictures in 4:2:0 have the profile of 4:4:4.
        Recipe(
            encoder: "libx264", options: ["-bf", "0", "-qp", "0"], file: "a.mp4", name: "H.264",
            traits: " of a 4:4:4 profile"),
        Recipe(encoder: "rawvideo", options: [], file: "a.avi", name: "RAWVIDEO", pixels: "nv12"),
    ]

    private let folder: TemporaryFolder
    private let size = PictureSize(width: 160, height: 120)

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The peak signal-to-noise ratio in dB; 0 if the sizes differ.
    private func likeness(_ one: [UInt8], _ other: [UInt8]) -> Double {
        guard one.count == other.count else { return 0 }
        var sum = 0
        for (left, right) in zip(one, other) { sum += (Int(left) - Int(right)) * (Int(left) - Int(right)) }
        return sum == 0 ? 100 : 10 * log10(255 * 255 * Double(one.count) / Double(sum))
    }

    @Test("are shown as FFmpeg decodes them, up to their last picture", arguments: recipes)
    func codecs(_ recipe: Recipe) throws {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let path = folder.file(recipe.file)
        let made = try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=1", "-pix_fmt", recipe.pixels]
                + ["-c:v", recipe.encoder, "-g", "10"] + recipe.options + [path])
        try #require(made.status == .exited(0), "\(made.messages)")
        let all = try FFmpeg.decode(path, to: recipe.reference).bytes
        let last = Array(all.suffix(160 * 120 * 3 / 2))
        let reader = host.firstTrack.subscribe {}
        let lines = LoggedLines()
        let pull = try Pull(try PullAddress("file:\(path)"), into: host.firstTrack, log: lines.log)
        let decoder = try H264Decoder()
        try eventually("the last picture") {
            for frame in reader.take() { try decoder.decode(frame.coded, copying: false) }
            guard lines.contain("has ended"), let picture = try decoder.lastPicture() else { return false }
            return likeness(picture.bytes, last) > 30
        }
        #expect(lines.contain("sends \(recipe.name) of 160x120\(recipe.traits), which is re-encoded"))
        // A machine that is busy leaves some out.
        #expect(decoder.pictureCount > 5)
        pull.stop()
    }

    @Test("or B-frames that the source doesn't announce are encoded once more, once they have come")
    func unannouncedOrder() throws {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let path = folder.file("a.mkv")
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=2", "-pix_fmt", "yuv420p", "-c:v", "libx264",
            "-profile:v", "main", "-bf", "2", "-x264-params", "b-adapt=0", "-write_crc32", "0", path,
        ])
        try #require(made.status == .exited(0), "\(made.messages)")
        let all = try FFmpeg.decode(path, to: "yuv420p").bytes
        let last = Array(all.suffix(160 * 120 * 3 / 2))
        _ = try folder.write("a.mkv", try Self.withoutUsability(try fileBytes(path)))
        let reader = host.firstTrack.subscribe {}
        let lines = LoggedLines()
        let pull = try Pull(try PullAddress("file:\(path)"), into: host.firstTrack, log: lines.log)
        defer { pull.stop() }
        var decoder = try H264Decoder()
        try eventually("the last picture") {
            for frame in reader.take() {
                // The second time, another encoder begins.
                if frame.coded.isRandomAccess { decoder = try H264Decoder() }
                _ = try? decoder.decode(frame.coded, copying: false)
            }
            guard lines.contain("has ended"), let picture = try decoder.lastPicture() else { return false }
            return likeness(picture.bytes, last) > 30
        }
        #expect(lines.contain("sends H.264 of 160x120"))
        #expect(lines.contain("sends B-frames without announcing them"))
        #expect(lines.contain("sends H.264 of 160x120 with B-frames, which is re-encoded"))
    }

    /// The file with a sequence parameter set of the same length that has no video usability information.
    private static func withoutUsability(_ file: [UInt8]) throws -> [UInt8] {
        var file = file
        // The NAL unit behind its length, in the track's headers.
        let start = try #require(file.indices.dropLast(4).first { file[$0...].starts(with: [0x67, 77]) })
        let length = Int(file[start - 2]) << 8 | Int(file[start - 1])
        var place = (start + 4) * 8
        func bit() -> Int {
            defer { place += 1 }
            return Int(file[place / 8] >> UInt8(7 - place % 8)) & 1
        }
        func number() -> Int {
            var zeros = 0
            while bit() == 0 { zeros += 1 }
            return (0..<zeros).reduce(1) { value, _ in value * 2 + bit() } - 1
        }
        // The id, the bits of frame_num, the kind of order and its bits, the references.
        for _ in 0..<5 { _ = number() }
        _ = bit()
        _ = (number(), number())
        // All pictures are frames; direct_8x8_inference.
        try #require(bit() == 1)
        _ = bit()
        if bit() == 1 { for _ in 0..<4 { _ = number() } }
        try #require(bit() == 1)
        // The flag becomes 0, and the stop bit follows.
        for offset in (place - 1)..<(start + length) * 8 {
            let mask = UInt8(1) << UInt8(7 - offset % 8)
            if offset == place { file[offset / 8] |= mask } else { file[offset / 8] &= ~mask }
        }
        return file
    }

    @Test("or that lie on their side, as a phone's, are turned as FFmpeg turns them", arguments: [90, 180, 270])
    func rotated(degrees: Int) throws {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let (flat, path) = (folder.file("flat.mp4"), folder.file("turned.mp4"))
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=1", "-pix_fmt", "yuv420p", "-c:v", "libx264",
            "-g", "10", flat,
        ])
        try #require(made.status == .exited(0), "\(made.messages)")
        // FFmpeg 6 and later call it -display_rotation, and no longer take the metadata.
        let turns = [
            ["-i", flat, "-metadata:s:v", "rotate=\(degrees)"], ["-display_rotation", "\(degrees)", "-i", flat],
        ]
        var all: [UInt8] = []
        for options in turns where all.isEmpty {
            let turned = try FFmpeg.run(["-y"] + options + ["-c", "copy", path])
            guard turned.status == .exited(0) else { continue }
            let upright = try FFmpeg.decode(path, to: "yuv420p").bytes
            if upright != (try FFmpeg.decode(flat, to: "yuv420p").bytes) { all = upright }
        }
        let last = Array(all.suffix(160 * 120 * 3 / 2))
        try #require(last.count == 160 * 120 * 3 / 2, "FFmpeg has made no file with a rotation")
        let reader = host.firstTrack.subscribe {}
        let lines = LoggedLines()
        let pull = try Pull(try PullAddress("file:\(path)"), into: host.firstTrack, log: lines.log)
        defer { pull.stop() }
        let decoder = try H264Decoder()
        try eventually("the last picture") {
            for frame in reader.take() { try decoder.decode(frame.coded, copying: false) }
            guard lines.contain("has ended"), let picture = try decoder.lastPicture() else { return false }
            return likeness(picture.bytes, last) > 30
        }
        let shown = degrees == 180 ? size : PictureSize(width: 120, height: 160)
        #expect(decoder.lastPictureSize == shown)
        #expect(lines.contain("sends H.264 of \(shown) with B-frames, turned by "), "\(lines.all)")
    }

    @Test("of a server play while it sends, and again when it is back")
    func server() throws {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let port = try freePort()
        func startSender() throws -> ChildProcess {
            var launch = Launch(
                "ffmpeg",
                [
                    "-hide_banner", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i",
                    "testsrc2=size=\(size):rate=25", "-pix_fmt", "yuv420p", "-c:v", "libx265", "-preset", "ultrafast",
                    "-x265-params", "log-level=error:keyint=10", "-f", "mpegts",
                    "srt://127.0.0.1:\(port)?mode=listener",
                ])
            launch.standardError = .text(limit: 1 << 16)
            return try ChildProcess(launch)
        }
        var settings = Pull.Settings()
        settings.firstWait = .milliseconds(50)
        settings.maxWait = .milliseconds(100)
        // The sender takes one connection, and ends with it.
        settings.timeouts.connecting = .seconds(20)
        settings.timeouts.reading = .seconds(5)
        let reader = host.firstTrack.subscribe {}
        let lines = LoggedLines()
        let address = try PullAddress("srt://127.0.0.1:\(port)")
        let pull = try Pull(address, into: host.firstTrack, settings: settings, log: lines.log)
        defer { pull.stop() }
        for _ in 0..<2 {
            let sender = try startSender()
            let decoder = try H264Decoder()
            try eventually("pictures") {
                for frame in reader.take() { _ = try? decoder.decode(frame.coded, copying: false) }
                return decoder.pictureCount > 10
            }
            #expect(decoder.lastPictureSize == size)
            sender.stop(within: .zero)
            try eventually("the end is noticed") { host.firstTrack.sourceState != .live }
            _ = reader.take()
        }
        #expect(lines.contain("sends HEVC of 160x120, which is re-encoded"))
    }

    @Test("aren't decoded while nobody watches; the next viewer gets what has come since the last key frame")
    func unwatched() throws {
        let path = folder.file("a.mkv")
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=2", "-c:v", "mpeg4", "-g", "10",
            "-sc_threshold", "1000000000", path,
        ])
        try #require(made.status == .exited(0), "\(made.messages)")
        let reader = try MediaReader(address: "file:" + path, connection: MediaConnection())
        let stream = try #require(reader.otherCodec)
        var packets: [StreamPacket] = []
        while let picture = try reader.next() {
            if case .packet(let packet) = picture.content { packets.append(packet) }
        }
        try #require(packets.indices.filter { packets[$0].isKeyFrame } == [0, 10, 20, 30, 40])
        var source = try DecodedSource(stream, into: try CustomVideoTrack(picturesPerSecond: 25))
        for packet in packets[..<25] { try source.take(packet, isWatched: false) }
        let before = source.pictureCount
        #expect(before > 0 && before <= 2 && source.size == size)
        try source.take(packets[25], isWatched: true)
        let reached = source.pictureCount
        #expect((5...6).contains(reached - before))
        source.skipToKeyFrame()
        for packet in packets[26..<30] { try source.take(packet, isWatched: true) }
        #expect(source.pictureCount == reached)
        for packet in packets[30..<32] { try source.take(packet, isWatched: true) }
        #expect(source.pictureCount > reached)
    }

    @Test("with a damaged packet go on with the next key frame, and damage is told once")
    func damaged() throws {
        let path = folder.file("a.avi")
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=1", "-c:v", "mpeg4", "-g", "5", path,
        ])
        try #require(made.status == .exited(0), "\(made.messages)")
        let reader = try MediaReader(address: "file:" + path, connection: MediaConnection())
        let stream = try #require(reader.otherCodec)
        let faults = Mutex(0)
        var source = try DecodedSource(stream, into: try CustomVideoTrack(picturesPerSecond: 25)) { _ in
            faults.withLock { $0 += 1 }
        }
        while let picture = try reader.next() {
            guard case .packet(let packet) = picture.content else { continue }
            // No packet may be empty.
            let bytes = packet.isKeyFrame ? packet.bytes : []
            try source.take(StreamPacket(bytes: bytes, isKeyFrame: packet.isKeyFrame), isWatched: true)
        }
        try source.finish()
        #expect(source.pictureCount == 5)
        #expect(faults.withLock { $0 } == 1)
    }
}
