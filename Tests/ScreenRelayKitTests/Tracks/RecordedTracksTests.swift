import CaptureLink
import FoundationEssentials
import Glibc
import H264
import Ingest
import LinkTransport
import MediaSessions
import MediaTypes
import Recording
import RecordingFiles
import Signalling
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import ScreenRelayKit
@testable import WebRTC

@Suite("A host that records its tracks")
struct RecordedTracksTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func host(in path: String? = nil, limit: UInt64? = nil, log: EventLog = .silent) throws -> ScreenRelayHost {
        var configuration = HostConfiguration.anyPorts
        configuration.recording = HostRecording(path: (path ?? folder.path) + "/talk.srr", limit: limit)
        return try ScreenRelayHost(configuration, log: log)
    }

    /// The messages of a recording to the host, as far as they are in the file.
    private func messages(_ path: String?) -> [LinkBytes] {
        guard let path, let file = try? RecordedFile(path: path) else { return [] }
        var messages: [LinkBytes] = []
        while let item = try? file.next() {
            if case .message(let message, .toHost) = item.content { messages.append(message) }
        }
        return messages
    }

    /// The media of a stream in them.
    private func media(of stream: UInt8, in messages: [LinkBytes]) -> [UInt8] {
        messages.filter { $0.header.stream == stream && $0.header.kind == .unit }.flatMap { Array($0.payload) }
    }

    /// Whether a recording is whole.
    private func isWhole(_ path: String) throws -> Bool {
        let file = try RecordedFile(path: path)
        while try file.next() != nil {}
        return file.fault == nil && file.hasEnd
    }

    /// A frame of three units, the last of `count` bytes.
    private func frame(_ count: Int = 4) -> CodedFrame {
        let bytes = [0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0x65] + [UInt8](repeating: 3, count: count)
        return CodedFrame(h264: bytes, units: [4..<6, 10..<12, 16..<bytes.count], captureTime: nil)
    }

    private func source() -> CustomVideoTrack { CustomVideoTrack(feedback: .init(keyFrameWanted: {})) }

    @Test("two captures are recorded byte for byte, the first in the named file, the second in one beside it")
    func captures() throws {
        let host = try host()
        defer { host.stop() }
        let second = try host.addTrack("desk2", to: host.room)
        let tracks = [host.firstTrack, second]
        let links = try tracks.map { try $0.openLink(at: .unix(path: folder.file($0.name + ".sock"))) }
        defer { for link in links { link.stop() } }
        let captures = try tracks.map { try SocketConnection.connect(to: .unix(path: folder.file($0.name + ".sock"))) }
        var sent: [[UInt8]] = []
        for (index, capture) in captures.enumerated() {
            let encoder = MessageEncoder(epoch: UInt64(index) + 9)
            var bytes = encoder.encode(.hello(Hello(role: .capture, name: "t", processID: 1, makesKeyFrames: true)))
            for number in 1...50 {
                let payload = [0, 0, 0, 1, 0x0C] + [UInt8](repeating: UInt8(number), count: 100 * number + index)
                bytes += try encoder.unitHeader(payloadCount: payload.count, captureTime: nil, endsFrame: true)
                bytes += payload
            }
            try capture.enqueue(header: bytes)
            try eventually("the host to read", holds: { try capture.flush() })
            sent.append(bytes)
        }
        for (track, bytes) in zip(tracks, sent) {
            try eventually("the messages of \(track.name)") {
                messages(track.recording?.path).flatMap(\.bytes) == bytes ? () : nil
            }
            // A recording is a reader that can't draw the pointer.
            #expect(track.readers.count == 1)
        }
        #expect(host.recordings.map(\.failure) == [nil, nil])
        let paths = host.recordings.map(\.path)
        #expect(paths[0] == folder.file("talk.srr"))
        #expect(paths[1].hasPrefix(folder.file("talk-screen-desk2-2")) && paths[1].hasSuffix("Z.srr"), "\(paths)")
        host.stop()
        #expect(try paths.map(isWhole) == [true, true])
        #expect(tracks.map(\.readers.count) == [0, 0])
    }

    @Test("a presenter's track that ends and returns has two files, with the video and sound of each time")
    func presenter() throws {
        let server = try MediaServer.onAnyPort()
        defer { server.stop() }
        let host = try host()
        defer { host.stop() }
        let publishing = RoomPublishing(media: server, timeout: .milliseconds(50), log: .silent)
        publishing.connect(host)
        var paths: [String] = []
        for round: UInt8 in 0..<2 {
            let session = try publishing.publish(
                offer: PublisherOffers.obs, room: host.room, track: "screen-1", presenter: Presenter(name: "Ann"),
                onEnd: { _ in }
            ).id
            let track = try #require(host.track("screen-1", in: host.room))
            let path = try #require(track.recording?.path)
            let source = try #require(track.ingest.hub.source as? PublishedSource)
            var pictures = SkippedPictures(columns: UInt32(4 + round), rows: 3, references: 1)
            var video: [UInt8] = []
            var sound: [UInt8] = []
            func receive(_ codec: TrackFormat.Codec, _ units: [[UInt8]], isRandomAccess: Bool) {
                source.receive(
                    PublishedFrame(
                        codec: codec, units: units, isRandomAccess: isRandomAccess, hasMedia: true, captureTime: now(),
                        arrival: now()))
            }
            for number: UInt8 in 0..<20 {
                let unit =
                    number == 0 ? pictures.idr() : SkippedPictures.accessUnit([pictures.skippedSlice()], isIDR: false)
                receive(
                    .h264, unit.units.map { [0, 0, 0, 1] + Array(unit.bytes[$0]) }, isRandomAccess: number == 0)
                video += unit.bytes
                let packet = [0, 0, 0, 1, 0xFC, round, number]
                receive(.opus, [packet], isRandomAccess: true)
                sound += packet
            }
            try eventually("the frames in \(path)") {
                let recorded = messages(path)
                let isThere = media(of: 0, in: recorded) == video
                return isThere && media(of: MessageHeader.soundStream, in: recorded) == sound ? () : nil
            }
            publishing.close(session)
            try eventually("the track's end", holds: { host.track("screen-1", in: host.room) == nil })
            paths.append(path)
        }
        #expect(Set(paths).count == 2, "\(paths)")
        host.stop()
        #expect(try paths.map(isWhole) == [true, true])
        // Nobody has sent anything to the first track.
        #expect(access(folder.file("talk.srr"), F_OK) != 0)
    }

    @Test("a disk that hangs under one recording costs neither the viewers nor another recording anything")
    func stalled() throws {
        let server = try MediaServer.onAnyPort()
        defer { server.stop() }
        let file = try StalledFile()
        defer { file.close() }
        let path = folder.file("good.srr")
        let recorders = [
            try LinkRecorder(
                try RecordingFile(creating: file.path, overwriting: true), limit: 50_000, log: .silent),
            try LinkRecorder(creatingLater: path, budget: nil, log: .silent),
        ]
        let tracks = try recorders.map {
            try HostedTrack("t", room: "r", recorder: $0, media: server, signalling: .unused, log: .silent)
        }
        let sources = tracks.map { _ in source() }
        let readers = tracks.map { $0.ingest.hub.subscribe {} }
        for (track, source) in zip(tracks, sources) {
            track.beginRecording()
            #expect(track.publish(source))
        }
        let frame = frame(2_000)
        var taken = [0, 0]
        for _ in 0..<200 {
            for index in 0..<2 {
                sources[index].write(frame)
                taken[index] += readers[index].take().count
            }
        }
        #expect(taken == [200, 200])
        #expect(recorders[0].status.counters.missingMessages > 0)
        let all = TrackRecorders(nil, log: .silent)
        let began = now()
        all.close(recorders, within: .milliseconds(500))
        #expect(now() - began < .seconds(4))
        if case .stalled? = recorders[0].status.failure {} else { Issue.record("\(recorders[0].status)") }
        #expect(recorders[1].status.failure == nil)
        #expect(media(of: 0, in: messages(path)) == [[UInt8]](repeating: frame.bytes, count: 200).flatMap { $0 })
        for source in sources { source.end(reason: "it was a test") }
    }

    @Test("of removed tracks, the recordings are kept until they are written, and a host's end waits for them")
    func removed() throws {
        let recorders = TrackRecorders(HostRecording(path: folder.file("a.srr")), log: .silent)
        let file = try StalledFile()
        defer { file.close() }
        let stalled = try LinkRecorder(try RecordingFile(creating: file.path, overwriting: true), log: .silent)
        var recording = PublicationRecording(stalled, epoch: 1, at: now())
        recording.record(frame(200_000), at: now())
        let began = now()
        recorders.end(stalled)
        let other = try #require(recorders.make(for: "x", in: "r"))
        recorders.end(other)
        #expect(now() - began < .seconds(4))
        try eventually("the other's end", holds: { other.isOver })
        let third = try #require(recorders.make(for: "x", in: "r"))
        #expect(third.path != other.path)
        recorders.end(third)
        #expect(recorders.ending.map(\.path) == [stalled.path, third.path])
        recorders.close([], within: .milliseconds(200))
        guard case .stalled? = recorders.ending.first?.status.failure else {
            Issue.record("\(recorders.ending.map(\.status))")
            return
        }
    }

    @Test(
        "on a full disk a recording says so once, and viewers and the other tracks' recordings go on",
        .enabled(if: SmallDisk.isAvailable, "only root may mount the small disk that this needs"))
    func fullDisk() throws {
        let disk = try SmallDisk(kilobytes: 64)
        let lines = Mutex<[String]>([])
        let log = EventLog(upTo: .warning) { _, line in lines.withLock { $0.append(line) } }
        let host = try host(in: disk.path, log: log)
        defer { host.stop() }
        let second = try host.addTrack("desk2", to: host.room)
        let sources = [source(), source()]
        #expect(host.firstTrack.publish(sources[0]) && second.publish(sources[1]))
        let reader = host.firstTrack.ingest.hub.subscribe {}
        let path = try #require(second.recording?.path)
        try eventually("the second file", holds: { (try? fileBytes(path).isEmpty) == false })
        sources[0].write(frame(200_000))
        try eventually("the disk to be full", holds: { host.firstTrack.recording?.failure != nil })
        try eventually("no recording to be counted", holds: { host.firstTrack.readers.count == 0 })
        for _ in 0..<10 { sources[0].write(frame()) }
        #expect(reader.take().count == 11)
        for _ in 0..<10 { sources[1].write(frame()) }
        let sent = [[UInt8]](repeating: frame().bytes, count: 10).flatMap { $0 }
        try eventually("the second recording", holds: { media(of: 0, in: messages(path)) == sent })
        #expect(second.recording?.failure == nil && second.readers.count == 1)
        let told = lines.withLock { $0.filter { $0.hasPrefix("--record: ") } }
        #expect(told.count == 1 && told[0].contains("the disk is full: '\(disk.path)/talk.srr'"), "\(told)")
        for source in sources { source.end(reason: "it was a test") }
    }

    @Test("the limit is for all files together, and a track that comes after it isn't recorded")
    func limit() throws {
        let host = try host(limit: 100_000)
        defer { host.stop() }
        let second = try host.addTrack("desk2", to: host.room)
        let tracks = [host.firstTrack, second]
        let sources = [source(), source()]
        for (track, source) in zip(tracks, sources) {
            #expect(track.publish(source))
            source.write(frame(30_000))
            try eventually("the frame of \(track.name)") {
                media(of: 0, in: messages(track.recording?.path)).count > 30_000 ? () : nil
            }
        }
        for (track, source) in zip(tracks, sources) {
            try eventually("the end of \(track.name)") {
                source.write(frame(1_000))
                return track.recording?.failure == nil ? nil : ()
            }
        }
        let paths = host.recordings.map(\.path)
        #expect(try paths.map { try fileBytes($0).count }.reduce(0, +) <= 100_000)
        #expect(try paths.map(isWhole) == [true, true])
        let late = source()
        let third = try host.addTrack("desk3", to: host.room)
        #expect(third.publish(late))
        try eventually("its end") {
            late.write(frame(1_000))
            return third.recording?.failure == nil ? nil : ()
        }
        for source in sources + [late] { source.end(reason: "it was a test") }
    }

    @Test("a host whose first file can't be created doesn't begin")
    func taken() throws {
        try folder.write("talk.srr", [1])
        do throws(HostError) {
            var configuration = HostConfiguration.anyPorts
            configuration.recording = HostRecording(path: folder.file("talk.srr"))
            try ScreenRelayHost(configuration).stop()
            Issue.record("it began")
        } catch {
            #expect(error.description.hasPrefix("--record: '\(folder.file("talk.srr"))' exists already"))
        }
        #expect(try fileBytes(folder.file("talk.srr")) == [1])
    }
}
