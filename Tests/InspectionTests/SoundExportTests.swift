import AudioCoding
import CaptureLink
import Exporting
import MediaFiles
import MediaTypes
import Processes
import Recording
import TestSupport
import Testing

@Suite("The sound of files for players", .enabled(if: FFmpeg.isAvailable))
struct SoundExportTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(
        "is beside the pictures and in step with them, also behind a silence that was not sent",
        arguments: [MediaContainer.mp4, .matroska])
    func inStep(_ container: MediaContainer) throws {
        var stream = try MadeStream(times: (0..<60).map { $0 * 100 })
        // The first run begins after the first picture, and 3 s are between the two. A tone begins with picture 10, and
        // another one with picture 50.
        stream.insert(
            try SoundRun(from: 300, to: 1500, tone: 1000..<1300).messages()
                + SoundRun(from: 4500, to: 5500, tone: 5000..<5300).messages())
        let file = try #require(try write(stream.recording().bytes, container).first)
        #expect(try probe(["-show_entries", "stream=codec_type", file.path]) == ["video", "audio"])
        let format = try probe(["-select_streams", "a", "-show_entries", "stream=sample_rate,channels", file.path])
        #expect(format == ["48000,2"])
        #expect(file.soundLength == .milliseconds(2200))
        let pictures = try times("v", file.path)
        try #require(pictures.count == 60)
        let tones = try onsets(file.path)
        #expect(tones.count == 2)
        for (tone, picture) in zip(tones, [10, 50]) {
            #expect(abs(tone - pictures[picture]) < 0.02, "\(tone) for \(pictures[picture])")
        }
        // Players that go by the times of packets and those that count samples hear the same.
        let packets = try times("a", file.path)
        #expect(packets.first == 0)
        for time in [1.0, 4.6, 5.4] { #expect(packets.contains { abs($0 - time) < 0.011 }) }
        #expect(abs((packets.last ?? 0) - 5.485) < 0.02)
    }

    @Test("begins with the first picture of each file, where it is cut and where the size changes")
    func parts() throws {
        var stream = try MadeStream(times: (0..<20).map { $0 * 100 }, idrs: [10])
        try stream.append(times: (20..<40).map { $0 * 100 }, size: PictureSize(width: 96, height: 64))
        stream.insert(
            try SoundRun(from: 0, to: 1500, tone: 1200..<1400).messages()
                + SoundRun(from: 1700, to: 3900, tone: 2500..<2700).messages())
        // Pictures arrive 5 ms after they were taken.
        let files = try write(stream.recording().bytes, .mp4, from: .milliseconds(1150), to: .milliseconds(3000))
        try #require(files.count == 2)
        // The first file begins with picture 10, and the second one with picture 20.
        for (file, tone) in zip(files, [0.2, 0.5]) {
            let tones = try onsets(file.path)
            #expect(tones.count == 1)
            #expect(abs((tones.first ?? 0) - tone) < 0.02)
        }
        // It ends with the range, though its last picture lies before that.
        #expect(abs((try times("a", files[1].path).last ?? 0) - 0.99) < 0.02)
    }

    @Test("is left out of files that have none, and is mono if all of it is")
    func channels() throws {
        var stream = try MadeStream(times: [0, 100, 200])
        try stream.append(times: [300, 400], size: PictureSize(width: 96, height: 64))
        stream.insert(try SoundRun(from: 0, to: 150, tone: 0..<100, channelCount: 1).messages())
        let files = try write(stream.recording().bytes, .matroska)
        try #require(files.count == 2)
        #expect(try probe(["-select_streams", "a", "-show_entries", "stream=channels", files[0].path]) == ["1"])
        #expect(try probe(["-show_entries", "stream=codec_type", files[1].path]) == ["video"])
    }

    @Test("is placed by its arrival where pictures are, and evenly all the same")
    func byArrival() throws {
        var stream = try MadeStream(times: (0..<10).map { $0 * 100 })
        let encoder = MessageEncoder(epoch: MadeStream.epoch)
        stream.messages = try stream.units.enumerated().flatMap { index, unit in
            try encoder.headers(for: unit.withoutCaptureTime).map { outgoing in
                MadeStream.Message(
                    bytes: outgoing.header + unit.bytes[outgoing.payload],
                    arrival: MadeStream.start + .milliseconds(Int64(index) * 100))
            }
        }
        var sound = try SoundRun(from: 200, to: 600, tone: 200..<600).messages()
        // Three packets come together, up to 40 ms late.
        for index in 5..<8 { sound[index].arrival = sound[7].arrival }
        stream.insert(sound)
        var found: [TimedAudio] = []
        var timed = TimedPictures(framesPerSecond: 30)
        _ = read(
            stream.recording().bytes,
            item: {
                timed.add($0)
                while let sound = timed.nextSound() { found.append(sound) }
            }, fault: { _ in })
        #expect(found.count == 20)
        // The first packet arrives at 230 ms, 20 ms after its first sample.
        #expect(found.first?.time == .milliseconds(210))
        for (sound, next) in zip(found, found.dropFirst()) { #expect(next.time - sound.time == .milliseconds(20)) }
    }

    @Test("a silence of days takes no days of packets, and no longer steps than a file can tell")
    func longSilence() throws {
        var stream = try MadeStream(times: [0, 100, 5 * 86_400_000])
        stream.insert(
            try SoundRun(from: 0, to: 50, tone: 0..<50).messages()
                + SoundRun(from: 5 * 86_400_000 - 100, to: 5 * 86_400_000, tone: 0..<0).messages())
        let (plan, pictures, sounds) = planned(stream.recording().bytes)
        var sound = AudioPass(plan)
        for packet in sounds { sound.add(packet) }
        var last = Interval.zero
        var (shortest, longest) = (Interval.seconds(1), Interval.zero)
        var byteCount = 0
        for picture in pictures {
            sound.reach(part: picture.part, decodingTime: picture.decodingTime)
            while let packet = sound.next() {
                shortest = min(shortest, packet.time - last)
                longest = max(longest, packet.time - last)
                last = packet.time
                byteCount += packet.bytes.count
            }
        }
        #expect(abs((last - .seconds(5 * 86_400)).nanoseconds) < 30_000_000)
        #expect(byteCount < 6_000_000)
        #expect(shortest >= .zero && longest < .seconds(44_000))
    }

    // MARK: Writing and judging

    private struct Written {
        let path: String
        var soundLength = Interval.zero
    }

    private func write(
        _ bytes: [UInt8], _ container: MediaContainer, from: Interval? = nil, to: Interval? = nil
    ) throws -> [Written] {
        let (plan, pictures, sounds) = planned(bytes, from: from, to: to)
        var files = plan.parts.indices.map {
            Written(path: folder.file("\($0).\(container == .mp4 ? "mp4" : "mkv")"))
        }
        let writers = try plan.parts.enumerated().map { index, part in
            let track = MediaTrack(
                format: part.format, headers: part.headers, changesHeaders: part.changesHeaders,
                maxStep: part.maxStep, lastDuration: part.lastStep)
            return try MediaFileWriter(
                path: files[index].path, container: container, track: track, soundChannels: part.soundChannels)
        }
        var sound = AudioPass(plan)
        func writeSound() throws {
            while let packet = sound.next() {
                let part = packet.part
                if !packet.isSilence { files[part].soundLength = files[part].soundLength + packet.duration }
                try writers[part].write(sound: packet.bytes, at: packet.time, for: packet.duration)
            }
        }
        for packet in sounds { sound.add(packet) }
        for picture in pictures {
            sound.reach(part: picture.part, decodingTime: picture.decodingTime)
            try writeSound()
            try writers[picture.part].write(
                MediaPacket(
                    frame: picture.frame, decodingTime: picture.decodingTime,
                    presentationTime: picture.presentationTime))
        }
        sound.finish()
        try writeSound()
        for writer in writers { try writer.finish() }
        return files
    }

    private func planned(
        _ bytes: [UInt8], from: Interval? = nil, to: Interval? = nil
    ) -> (plan: ExportPlan, pictures: [ExportPass.Picture], sounds: [TimedAudio]) {
        var timed = TimedPictures(framesPerSecond: 30)
        var plan = ExportPlan(from: from, to: to)
        var all: [TimedPictures.Picture] = []
        var sounds: [TimedAudio] = []
        func take() {
            while let picture = timed.next() {
                plan.add(picture)
                all.append(picture)
            }
            while let sound = timed.nextSound() {
                plan.add(sound)
                sounds.append(sound)
            }
        }
        _ = read(
            bytes,
            item: {
                timed.add($0)
                take()
            }, fault: { _ in })
        timed.finish()
        take()
        var pass = ExportPass(plan)
        var pictures: [ExportPass.Picture] = []
        for picture in all { pictures += pass.add(picture) }
        pictures += pass.finish()
        return (plan, pictures, sounds)
    }

    /// When each tone begins in what a player hears that counts samples, in seconds.
    private func onsets(_ path: String) throws -> [Double] {
        let result = try FFmpeg.run(["-i", path, "-map", "0:a:0", "-f", "s16le", "-ac", "1", "pipe:1"])
        #expect(result.messages.isEmpty)
        let samples = stride(from: 0, to: result.bytes.count - 1, by: 2).map { index in
            Int(Int16(bitPattern: UInt16(result.bytes[index]) | UInt16(result.bytes[index + 1]) << 8))
        }
        var found: [Double] = []
        var lastLoud = -48_000
        for (index, sample) in samples.enumerated() where abs(sample) > 3000 {
            // A tone passes zero, but not for 50 ms.
            if index - lastLoud > 2400 { found.append(Double(index) / 48_000) }
            lastLoud = index
        }
        return found
    }

    /// The times of a track's packets, in seconds.
    private func times(_ track: String, _ path: String) throws -> [Double] {
        try probe(["-select_streams", track, "-show_entries", "packet=pts_time", path]).compactMap {
            Double($0.split(separator: ",").first ?? "")
        }
    }

    private func probe(_ arguments: [String]) throws -> [String] {
        var launch = Launch("ffprobe", ["-v", "error", "-of", "csv=p=0"] + arguments)
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 1 << 16)
        let result = try ChildProcess.run(launch, within: .seconds(90))
        #expect(result.status == .exited(0) && result.errorOutput.isEmpty, "\(result.errorOutput)")
        return result.output.split(separator: "\n").map(String.init)
    }
}

/// Packets of sound that follow each other, as a capture of sound sends them. Times are those of ``MadeStream``'s
/// pictures, in milliseconds.
private struct SoundRun {
    let from: Int64
    let to: Int64
    /// Where it isn't silent.
    let tone: Range<Int64>
    var channelCount = 2

    /// The messages, which arrive 20 ms after their first sample.
    func messages() throws -> [MadeStream.Message] {
        let encoder = try OpusEncoder(channelCount: channelCount, bitRate: BitRate(bitsPerSecond: 96_000))
        let sender = MessageEncoder(epoch: 0x5555, stream: MessageHeader.soundStream)
        let delay = ClockRate.audio.interval(of: Int64(encoder.lookahead))
        return try stride(from: from, to: to, by: 20).map { time in
            let level: Float = tone.contains(time) ? 0.5 : 0
            // 20 ms are twenty periods of 1 kHz.
            let samples = TestSupport.tone(1000, seconds: 0.02, amplitude: level, channelCount: channelCount)
            let payload = MessageHeader.unitMark + Array(try encoder.encode(samples))
            let captured = MadeStream.captureStart + .milliseconds(time) - delay
            let header = try sender.unitHeader(payloadCount: payload.count, captureTime: captured, endsFrame: true)
            return MadeStream.Message(bytes: header + payload, arrival: MadeStream.start + .milliseconds(time + 30))
        }
    }
}

extension MadeStream {
    /// Puts messages where they belong by their arrival.
    fileprivate mutating func insert(_ more: [Message]) {
        messages = (messages + more).enumerated()
            .sorted { ($0.element.arrival, $0.offset) < ($1.element.arrival, $1.offset) }
            .map(\.element)
    }
}
