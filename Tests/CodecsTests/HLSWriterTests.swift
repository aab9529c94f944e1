import Glibc
import H264
import MediaFiles
import MediaTypes
import Processes
import TestSupport
import Testing

@Suite("HLS on disk", .enabled(if: FFmpeg.isAvailable))
struct HLSWriterTests {
    private let folder: TemporaryFolder
    /// Every 25th is an IDR picture.
    private let pictures: [CodedFrame]

    init() throws {
        folder = try TemporaryFolder()
        pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
    }

    private static func track(_ picture: CodedFrame) throws -> MediaTrack {
        var reader = H264Coding().makeReader()
        let read = reader.read(picture)
        let facts = try #require(read)
        return MediaTrack(
            format: facts.format, headers: facts.headers, changesHeaders: false, maxStep: .zero,
            lastDuration: .zero)
    }

    private func writer(_ name: String = "room.m3u8") throws -> HLSWriter {
        try HLSWriter(path: folder.file(name), track: try Self.track(pictures[0]), sound: nil)
    }

    /// Writes pictures, 25 a second, and calls `each` after each of them.
    private func write(_ range: Range<Int>, to writer: HLSWriter, each: () throws -> Void = {}) throws {
        for index in range {
            let time = Interval.milliseconds(Int64(index) * 40)
            let picture = pictures[index % pictures.count]
            try writer.write(MediaPacket(frame: picture, decodingTime: time, presentationTime: time))
            try each()
        }
    }

    private var names: Set<String> {
        get throws {
            let directory = try #require(opendir(folder.path))
            defer { closedir(directory) }
            var names: Set<String> = []
            while let entry = readdir(directory) {
                names.insert(
                    withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                    })
            }
            return names.subtracting([".", ".."])
        }
    }

    private func text(_ name: String = "room.m3u8") throws -> String {
        String(decoding: try fileBytes(folder.file(name)), as: UTF8.self)
    }

    private func segments(_ text: String) -> [String] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }

    /// All pictures of the listed segments, as FFmpeg decodes them.
    private func decode(_ name: String = "room.m3u8") throws -> Int {
        let decoded = try FFmpeg.decode("file:" + folder.file(name), input: ["-live_start_index", "0"])
        // FFmpeg goes on with the headers in the key frames, and is right with that.
        let faults = decoded.faults.filter { !$0.contains("Found duplicated MOOV Atom") }
        #expect(faults.isEmpty, "\(decoded.messages)")
        return decoded.bytes.count / (176 * 144 * 3)
    }

    @Test("six segments are listed, and those before them go")
    func bounded() throws {
        let writer = try writer()
        var (most, firstList) = (0, Int?.none)
        var written = 0
        try write(0..<1500, to: writer) {
            written += 1
            guard written % 25 == 1 else { return }
            let names = try names
            most = max(most, names.count)
            if firstList == nil, names.contains("room.m3u8") { firstList = written }
        }
        // The first list is there with the second key frame, a second after the first.
        #expect(firstList == 26)
        // The list, six segments in it, seven that a player may still read, and one initialization segment.
        #expect(most == 15)
        #expect(segments(try text()).count == 6)
        try writer.finish()
        #expect(try text().hasSuffix("#EXT-X-ENDLIST\n"))
        #expect(try decode() == 275)
        // Each segment tells its place in the stream, and says how long it is.
        var probe = Launch(
            "ffprobe", ["-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", folder.file("room.m3u8")])
        probe.standardOutput = .text(limit: 1 << 16)
        let times = try ChildProcess.run(probe, within: .seconds(90)).output.split(separator: "\n")
            .compactMap { Double($0.split(separator: ",")[0]) }
        #expect(times.count == 275 && zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.04) < 0.0001 })
        let last = try #require(times.last)
        #expect(abs(last - 59.96) < 0.001)
    }

    @Test("other users may read whatever the umask allows, as a web server must")
    func modes() throws {
        let facts = String(decoding: try fileBytes("/proc/self/status"), as: UTF8.self).split(separator: "\n")
        let umask = facts.first { $0.hasPrefix("Umask:") }?.split(separator: "\t").last
        let mask = try #require(umask.flatMap { UInt32($0, radix: 8) })
        let writer = try writer()
        try write(0..<75, to: writer)
        try writer.finish()
        let names = try names
        #expect(names.contains("room.m3u8") && names.count > 2)
        for name in names {
            var status = stat()
            #expect(stat(folder.file(name), &status) == 0 && status.st_mode & 0o777 == 0o666 & ~mask, "\(name)")
        }
    }

    @Test("another size begins another initialization segment under another name, which the list says")
    func sizes() throws {
        let writer = try writer()
        try write(0..<75, to: writer)
        let larger = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.desktop.bytes())
        let track = try Self.track(larger[0])
        for (index, picture) in larger.enumerated() {
            let time = Interval.milliseconds(3000 + Int64(index) * 40)
            var packet = MediaPacket(frame: picture, decodingTime: time, presentationTime: time)
            if index == 0 { (packet.newHeaders, packet.newFormat) = (track.headers, track.format) }
            try writer.write(packet)
        }
        try writer.finish()
        let lines = try text().split(separator: "\n")
        let maps = lines.filter { $0.hasPrefix("#EXT-X-MAP") }
        #expect(Set(maps).count == 2)
        let place = try #require(lines.firstIndex(of: "#EXT-X-DISCONTINUITY"))
        #expect(lines[place + 1] == maps[1])
        #expect(lines.filter { $0 == "#EXT-X-DISCONTINUITY" }.count == 1)
        // FFmpeg scales what follows to the first size.
        #expect(try decode() == 75 + larger.count)
        let initializations = try names.filter { $0.hasSuffix("-init.mp4") }.sorted()
        let sizes = try initializations.map { name in
            var probe = Launch(
                "ffprobe", ["-v", "error", "-of", "csv=p=0", "-show_entries", "stream=width,height", folder.file(name)])
            probe.standardOutput = .text(limit: 1 << 10)
            return try ChildProcess.run(probe, within: .seconds(90)).output.split(separator: "\n").first
        }
        #expect(sizes == ["176,144", "1280,720"])
    }

    @Test("a stream that begins again changes no file that is listed, and the list goes on")
    func restart() throws {
        let before = try writer()
        try write(0..<500, to: before)
        let list = try text()
        let contents = try Dictionary(uniqueKeysWithValues: segments(list).map { ($0, try fileBytes(folder.file($0))) })
        let after = try writer()
        try write(0..<25, to: after)
        #expect(try text() == list)
        try write(25..<26, to: after)
        let listed = segments(try text())
        #expect(listed.dropLast() == segments(list).dropFirst())
        let last = try #require(listed.last)
        #expect(contents[last] == nil)
        #expect(try text().components(of: "#EXT-X-DISCONTINUITY\n") == 1)
        for name in listed.dropLast() { #expect(try fileBytes(folder.file(name)) == contents[name]) }
        try after.finish()
        // What is left of the stream before is gone, too.
        #expect(try names.count <= 17)
        #expect(try decode() == 226)
    }

    @Test("what was written long ago is neither listed again nor left behind, and its names are not used again")
    func old() throws {
        let before = try writer()
        try write(0..<500, to: before)
        let old = try names.subtracting(["room.m3u8"])
        try folder.write("room-talk.m4s", [1])
        var times = [timespec(tv_sec: time(nil) - 120, tv_nsec: 0), timespec(tv_sec: time(nil) - 120, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, folder.file("room.m3u8"), &times, 0) == 0)
        let after = try writer()
        try write(0..<26, to: after)
        #expect(segments(try text()).count == 1)
        #expect(try names.isDisjoint(with: old))
        // It isn't one of ours.
        #expect(try names.contains("room-talk.m4s"))
        let first = try #require(segments(try text()).first)
        #expect(!old.contains(first))
    }

    @Test("a list that is damaged, or not ours, is not gone on with", arguments: 0..<40)
    func damaged(_ seed: UInt64) throws {
        let before = try writer()
        try write(0..<100, to: before)
        var random = SeededRandom(seed: seed)
        var bytes = try fileBytes(folder.file("room.m3u8"))
        if seed % 2 == 0 {
            bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
        } else {
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
        }
        try folder.write("room.m3u8", bytes)
        let after = try writer()
        try write(0..<26, to: after)
        try after.finish()
        #expect(try text().contains("#EXT-X-ENDLIST"))
        #expect(segments(try text()).count <= 6)
    }

    @Test(
        "a list that names other files is not gone on with, and they stay",
        arguments: ["notes.m4s", "../room-1.m4s", "..%2Froom-1.m4s", "/etc/passwd", "sub/room-1.m4s", "other-1.m4s"])
    func foreign(_ named: String) throws {
        let own = try TemporaryFolder()
        let path = own.file("live/room.m3u8")
        for name in ["live", "live/sub"] { try #require(mkdir(own.file(name), 0o700) == 0) }
        let others = ["room-1.m4s", "live/notes.m4s", "live/sub/room-1.m4s", "live/other-1.m4s"]
        for name in others { try own.write(name, [1]) }
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:3", "#EXT-X-MEDIA-SEQUENCE:1"]
        lines += ["#EXT-X-MAP:URI=\"room-1-init.mp4\"", "#EXTINF:3.000000,", named]
        try own.write("live/room.m3u8", Array((lines.joined(separator: "\n") + "\n").utf8))
        let writer = try HLSWriter(path: path, track: try Self.track(pictures[0]), sound: nil)
        // More than a list keeps, and what has left it is deleted.
        try write(0..<1200, to: writer)
        try writer.finish()
        #expect(try !String(decoding: fileBytes(path), as: UTF8.self).contains(named))
        for name in others { #expect(try fileBytes(own.file(name)) == [1], "\(name)") }
    }

    @Test("a playlist that is a pipe doesn't block the writer", .timeLimit(.minutes(5)))
    func pipe() throws {
        try #require(mkfifo(folder.file("room.m3u8"), 0o600) == 0)
        let writer = try writer()
        try write(0..<26, to: writer)
        #expect(segments(try text()).count == 1)
    }

    @Test("a listed initialization segment that has become a pipe doesn't block it either", .timeLimit(.minutes(5)))
    func segmentPipe() throws {
        let before = try writer()
        try write(0..<26, to: before)
        let name = try #require(try names.first { $0.hasSuffix("-init.mp4") })
        unlink(folder.file(name))
        try #require(mkfifo(folder.file(name), 0o600) == 0)
        let after = try writer()
        try write(0..<26, to: after)
        #expect(segments(try text()).count == 2)
    }

    @Test("any name of a file can be played, and what a URI can't have is written as URIs do")
    func anyName() throws {
        for name in ["Räume.1.m3u8", "50%of#a?b:c.m3u8"] {
            let writer = try writer(name)
            try write(0..<100, to: writer)
            try writer.finish()
        }
        #expect(try decode("Räume.1.m3u8") == 100)
        #expect(segments(try text("50%of#a?b:c.m3u8")).allSatisfy { $0.hasPrefix("50%25of%23a%3Fb%3Ac-") })
    }

    @Test("where nothing can be written, the reason is told at once")
    func missing() throws {
        let track = try Self.track(pictures[0])
        #expect(throws: MediaFileError.self) {
            _ = try HLSWriter(path: folder.file("no/room.m3u8"), track: track, sound: nil)
        }
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
