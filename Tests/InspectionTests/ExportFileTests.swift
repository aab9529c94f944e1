import Exporting
import H264
import MediaFiles
import MediaTypes
import Processes
import Recording
import TestSupport
import Testing

@Suite("Files for players", .enabled(if: FFmpeg.isAvailable))
struct ExportFileTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(
        "pictures have the times at which they were taken, however irregular",
        arguments: [MediaContainer.mp4, .matroska])
    func times(_ container: MediaContainer) throws {
        let times: [Int64] = [0, 33, 66, 500, 533, 1500]
        let stream = try MadeStream(times: times)
        let paths = try write(stream.recording().bytes, container)
        #expect(paths.count == 1)
        let shown = try frameTimes(paths[0])
        #expect(shown.count == times.count)
        for (time, wanted) in zip(shown, times) { #expect(abs(time - Double(wanted) / 1000) < 0.001) }
    }

    @Test(
        "pictures that were taken less than a millisecond after each other have times of their own",
        arguments: [MediaContainer.mp4, .matroska])
    func crowded(_ container: MediaContainer) throws {
        // Three in one millisecond, twice.
        let stream = try MadeStream(times: [0, 33, 33, 33, 66, 100, 100, 100, 133])
        let path = try write(stream.recording().bytes, container)[0]
        let copied = try FFmpeg.run(["-i", path, "-c", "copy", "-f", "matroska", folder.file("copied.mkv")])
        #expect(copied.messages.isEmpty, "\(copied.messages)")
        let shown = try frameTimes(path)
        #expect(shown.count == 9 && zip(shown, shown.dropFirst()).allSatisfy { $0 < $1 }, "\(shown)")
        for (time, wanted) in zip(shown, [0, 33, 33, 33, 66, 100, 100, 100, 133]) {
            #expect(abs(time - Double(wanted) / 1000) < 0.0031)
        }
    }

    @Test("decoded pictures are those of the stream itself", arguments: [MediaContainer.mp4, .matroska])
    func pictures(_ container: MediaContainer) throws {
        let stream = try MadeStream(times: (0..<40).map { $0 * 40 }, idrs: [10, 30])
        let raw = try folder.write("raw.h264", stream.annexB)
        let path = try write(stream.recording().bytes, container)[0]
        let own = try FFmpeg.decode(path, to: "yuv420p")
        #expect(own.messages.isEmpty)
        #expect(own.bytes == (try FFmpeg.decode(raw, to: "yuv420p")).bytes)
        #expect(own.bytes.count == 40 * 64 * 48 * 3 / 2)
    }

    @Test(
        "a change of size begins another file, and each plays from its beginning",
        arguments: [MediaContainer.mp4, .matroska])
    func sizes(_ container: MediaContainer) throws {
        var stream = try MadeStream(times: [0, 40, 80])
        try stream.append(times: [120, 160], size: PictureSize(width: 96, height: 64))
        let paths = try write(stream.recording().bytes, container)
        #expect(paths.count == 2)
        #expect(try frameTimes(paths[0]).count == 3)
        let second = try frameTimes(paths[1])
        #expect(second.count == 2)
        #expect(second.first == 0)
    }

    @Test("from a time on: the file begins with the IDR picture at or before it, and ends where it should")
    func part() throws {
        let stream = try MadeStream(times: (0..<20).map { $0 * 100 }, idrs: [5, 10, 15])
        let bytes = stream.recording().bytes
        // Pictures arrive 5 ms after they were taken.
        let path = try write(bytes, .mp4, from: .milliseconds(1250), to: .milliseconds(1650))[0]
        #expect(try frameTimes(path).count == 7)
    }

    @Test(
        "every stream: the file has its pictures, in the order and with the content that FFmpeg decodes from itself",
        arguments: TestStreams.all)
    func streams(_ stream: TestStream) throws {
        let bytes = try stream.bytes()
        for container in [MediaContainer.mp4, .matroska] {
            let paths = try write(bytes, container, framesPerSecond: 25)
            // Damaged streams have no right answer.
            guard paths.count == 1, !stream.isDamaged else { continue }
            let own = try FFmpeg.decode(paths[0], to: "yuv420p")
            let original = try FFmpeg.decode(stream.path, to: "yuv420p", input: ["-f", "h264"])
            #expect(own.bytes == original.bytes)
            let times = try frameTimes(paths[0])
            for (index, time) in times.enumerated() { #expect(abs(time - Double(index) / 25) < 0.0011) }
        }
    }

    @Test("a stream alone has all pictures that were asked for, those between two parts that no player could read too")
    func range() throws {
        var stream = try MadeStream(times: [0, 40, 80])
        try stream.append(times: [120, 160, 200], size: PictureSize(width: 96, height: 64))
        var pictures = export(stream.recording().bytes)
        #expect(pictures.count == 6)
        // A picture without a slice that can be read, where the size changes.
        let unreadable = CodedFrame(h264: [0, 0, 0, 1, 0x41], units: [4..<5], captureTime: nil)
        pictures.insert(TimedPictures.Picture(frame: unreadable, time: .milliseconds(100), offset: 0), at: 3)
        var plan = ExportPlan()
        for picture in pictures { plan.add(picture) }
        #expect(plan.parts.map(\.first) == [0, 4])
        #expect(plan.count == 6)
        #expect(plan.range == 0..<7)
        var late = ExportPlan(from: .milliseconds(130), to: .milliseconds(170))
        for picture in pictures { late.add(picture) }
        #expect(late.range == 4..<6)
    }

    @Test(
        "hours and days between two pictures: every picture has its time, as exactly as a file can tell it",
        arguments: [(MediaContainer.mp4, 8, 0.0001), (.mp4, 100, 0.001), (.matroska, 8, 0.001)])
    func pauses(_ container: MediaContainer, _ hours: Int64, _ exactness: Double) throws {
        let pause = hours * 3_600_000
        let times: [Int64] = [0, 33, 66, pause, pause + 33, pause + 1066]
        // Capture's own times, which arrival confirms.
        let path = try write(try MadeStream(times: times).recording().bytes, container)[0]
        let result = try ChildProcess.run(probe(["-show_entries", "packet=pts_time", path]), within: .seconds(90))
        #expect(result.status == .exited(0) && result.errorOutput.isEmpty, "\(result.errorOutput)")
        let shown = result.output.split(separator: "\n").compactMap { Double($0.split(separator: ",").first ?? "") }
        #expect(shown.count == times.count)
        for (time, wanted) in zip(shown, times) { #expect(abs(time - Double(wanted) / 1000) < exactness) }
        let own = try FFmpeg.decode(path, to: "yuv420p")
        #expect(own.messages.isEmpty && own.bytes.count == times.count * 64 * 48 * 3 / 2)
    }

    @Test("a pause that no step of the file can tell is shortened, and what follows keeps its distances")
    func endlessPause() throws {
        let pause: Int64 = 60 * 86_400_000
        let path = try write(try MadeStream(times: [0, 33, pause, pause + 40]).recording().bytes, .mp4)[0]
        let output = try ChildProcess.run(probe(["-show_entries", "packet=pts_time", path]), within: .seconds(90))
            .output
        let shown = output.split(separator: "\n").compactMap { Double($0.split(separator: ",").first ?? "") }
        try #require(shown.count == 4)
        #expect(shown[2] > 24 * 86_400)
        #expect(abs(shown[3] - shown[2] - 0.04) < 0.0011)
    }

    @Test("players go to any IDR picture, and know how long it all is", arguments: [MediaContainer.mp4, .matroska])
    func seeking(_ container: MediaContainer) throws {
        // With a gap that is longer than a Matroska cluster can hold times of.
        let times = (0..<60).map { Int64($0 < 30 ? $0 : $0 + 400) * 100 }
        let path = try write(try MadeStream(times: times, idrs: [15, 30, 45]).recording().bytes, container)[0]
        for (wanted, found) in [(0.2, 0.0), (2.0, 1.5), (43.9, 43.0), (45.0, 44.5)] {
            let (status, output, errors) = try ChildProcess.run(
                probe(["-read_intervals", "\(wanted)%+#1", "-show_entries", "packet=pts_time,flags", path]),
                within: .seconds(90))
            #expect(status == .exited(0) && errors.isEmpty, "\(errors)")
            let parts = output.split(separator: "\n").first?.split(separator: ",") ?? []
            #expect(parts.last?.hasPrefix("K") == true && abs((Double(parts[0]) ?? -1) - found) < 0.001, "\(output)")
        }
        // The last picture is shown as long as the one before it, the gap before others notwithstanding.
        #expect(abs(try length(path) - 46) < 0.002)
    }

    @Test(
        "a last picture behind a long pause is not shown as long as that pause was",
        arguments: [MediaContainer.mp4, .matroska])
    func lastPicture(_ container: MediaContainer) throws {
        let path = try write(try MadeStream(times: [0, 100, 60_000]).recording().bytes, container)[0]
        #expect(abs(try length(path) - 70) < 0.002)
    }

    /// How long all of it is, by ffprobe.
    private func length(_ path: String) throws -> Double {
        let output = try ChildProcess.run(probe(["-show_entries", "format=duration", path]), within: .seconds(90))
            .output
        return try #require(output.split(separator: "\n").first.flatMap { Double($0) }, "\(output)")
    }

    private func probe(_ arguments: [String]) -> Launch {
        var launch = Launch("ffprobe", ["-v", "error", "-of", "csv=p=0"] + arguments)
        launch.standardOutput = .text(limit: 1 << 16)
        launch.standardError = .text(limit: 1 << 16)
        return launch
    }

    @Test("what begins without an IDR picture is exported as well behind a connection as from a stream alone")
    func withoutIDR() throws {
        let stream = try MadeStream(times: (0..<6).map { $0 * 40 }, idrs: [])
        // As an encoder that refreshes bit by bit sends it: parameter sets, and no IDR picture.
        let sets = stream.units[0].units.prefix(2).map { AnnexB.startCode + stream.units[0].bytes[$0] }
        let units = sets + stream.units.dropFirst().map(\.bytes)
        let direct = export(units.flatMap { $0 })
        #expect(direct.count == 5)
        var recorded = TimedPictures(framesPerSecond: 30)
        func item(_ content: RecordedItem.Content) -> RecordedItem {
            RecordedItem(offset: 0, byteCount: 0, arrival: nil, content: content)
        }
        // Another connection first, in which nothing came.
        recorded.add(item(.connection))
        recorded.add(item(.connection))
        for unit in units {
            for range in AnnexB.nalUnits(in: unit) {
                let payload = AnnexB.startCode + unit[range]
                recorded.add(item(.nalUnit(AnnexBNALUnit(payload: payload, hasShortStartCode: false))))
            }
        }
        // Here a sender came again, and what its pictures refer to is not there.
        recorded.add(item(.connection))
        let last = AnnexB.startCode + units[units.count - 1].dropFirst(4)
        recorded.add(item(.nalUnit(AnnexBNALUnit(payload: last, hasShortStartCode: false))))
        recorded.finish()
        var pictures: [CodedFrame] = []
        while let picture = recorded.next() { pictures.append(picture.frame) }
        #expect(pictures.map(\.bytes) == direct.map(\.frame.bytes))
    }

    @Test("B pictures are shown in their order, and decoded in theirs")
    func reordering() throws {
        let raw = folder.file("b.h264")
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=size=160x120:rate=25:duration=2", "-c:v", "libx264", "-bf", "3",
            "-b_strategy", "0",
            "-x264-params", "b-pyramid=normal:keyint=15", "-pix_fmt", "yuv420p", raw,
        ])
        try #require(made.status != nil)
        for container in [MediaContainer.mp4, .matroska] {
            let path = try write(try fileBytes(raw), container, framesPerSecond: 25)[0]
            let times = try frameTimes(path)
            #expect(times.count == 50)
            for (index, time) in times.enumerated() { #expect(abs(time - Double(index) / 25) < 0.0011) }
            #expect(try FFmpeg.decode(path, to: "yuv420p").bytes == FFmpeg.decode(raw, to: "yuv420p").bytes)
        }
    }

    // MARK: Writing and judging

    private func write(
        _ bytes: [UInt8], _ container: MediaContainer, from: Interval? = nil, to: Interval? = nil,
        framesPerSecond: Int = 30
    ) throws -> [String] {
        let pictures = export(bytes, framesPerSecond: framesPerSecond)
        var plan = ExportPlan(from: from, to: to)
        for picture in pictures { plan.add(picture) }
        var pass = ExportPass(plan)
        var ready: [ExportPass.Picture] = []
        for picture in pictures { ready += pass.add(picture) }
        ready += pass.finish()
        return try plan.parts.enumerated().map { index, part in
            let path = folder.file("\(index).\(container == .mp4 ? "mp4" : "mkv")")
            let track = MediaTrack(
                format: part.format, headers: part.headers, changesHeaders: part.changesHeaders,
                maxStep: part.maxStep, lastDuration: part.lastStep)
            let writer = try MediaFileWriter(path: path, container: container, track: track)
            for picture in ready where picture.part == index {
                try writer.write(
                    MediaPacket(
                        frame: picture.frame, decodingTime: picture.decodingTime,
                        presentationTime: picture.presentationTime))
            }
            try writer.finish()
            return path
        }
    }

    /// When each frame is shown, by FFmpeg's `showinfo`.
    private func frameTimes(_ path: String) throws -> [Double] {
        let result = try FFmpeg.run([
            "-v", "info", "-i", path, "-fps_mode", "passthrough", "-vf", "showinfo", "-f", "null", "-",
        ])
        return result.messages.split(separator: "\n").compactMap { line in
            guard line.contains("Parsed_showinfo"), let place = line.firstRange(of: "pts_time:") else { return nil }
            return Double(line[place.upperBound...].prefix { !$0.isWhitespace })
        }
    }
}
