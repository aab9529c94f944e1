import CaptureLink
import Ingest
import LinkTransport
import MediaTypes
import Recording
import RecordingFiles
import TestSupport
import Testing
import Threading
import TrackHub

@Suite("Recording a host's link")
struct RecordingTests {
    /// A host whose link is recorded.
    final class Host {
        let folder: TemporaryFolder
        let path: String
        let file: String
        let hub = TrackHub(origin: now())
        let sound = TrackHub(origin: now())
        let ingest: TrackIngest
        let server: LinkServer

        init(limit: Int = 16 << 20, keyFramePeriod: Interval = RecordedKeyFrames.period) throws {
            folder = try TemporaryFolder()
            path = folder.file("s.sock")
            file = folder.file("link.srr")
            ingest = try TrackIngest(hub: hub, log: .silent)
            let recorder = try LinkRecorder(
                try RecordingFile(creating: file), limit: limit, keyFramePeriod: keyFramePeriod, log: .silent)
            recorder.attach(to: ingest, sound: sound)
            server = try LinkServer(
                at: .unix(path: path), ingest: ingest, sound: sound, name: "test host", recorder: recorder,
                log: .silent)
        }

        deinit { server.stop() }

        /// Whether a message is in the file.
        var hasRecorded: Bool { server.recorder?.status.counters.messages ?? 0 > 0 }

        /// Ends the host, and returns what was recorded.
        func items() throws -> [RecordedItem] {
            server.stop()
            server.recorder?.close()
            let file = try RecordedFile(path: file)
            var items: [RecordedItem] = []
            while let item = try file.next() { items.append(item) }
            #expect(file.fault == nil)
            #expect(file.hasEnd)
            return items
        }
    }

    @Test(
        "the messages are recorded as they passed, also those that the host can't use, with the times at which they came"
    )
    func messages() throws {
        let host = try Host()
        let began = now()
        let capture = try TestCapture(path: host.path)
        let encoder = MessageEncoder(epoch: 99)
        var unknown = encoder.encode(.requestKeyFrame)
        unknown[1] = 31
        let useless =
            try encoder.unitHeader(payloadCount: 7, captureTime: nil, endsFrame: true) + [0, 0, 0, 1, 0, 0, 0]
        let pictures = try PlainPictures()
        let unit = try capture.bytes(of: pictures.next(shade: 50, isIDR: true))
        let sent = [
            encoder.encode(.hello(Hello(role: .capture, name: "t", processID: 1, makesKeyFrames: true))), unknown,
            useless,
            unit,
            encoder.encode(.end(EndNotice(reason: .stopped, text: ""))),
        ]
        for bytes in sent.dropLast() { try capture.send(bytes: bytes) }
        // A capture that ends at once would not be told anything.
        try capture.wait(for: "to be told to run") { $0.contains(.watched) }
        for bytes in sent.suffix(1) { try capture.send(bytes: bytes) }
        try eventually("the host to have read", holds: { host.hasRecorded })
        capture.connection.close()
        try eventually("its end", holds: { if case .gone = host.ingest.hub.sourceState { true } else { false } })
        let items = try host.items()
        guard case .connection = items.first?.content else {
            Issue.record("no connection at the front")
            return
        }
        var bytes: [UInt8] = []
        var answers: [MessageKind?] = []
        for item in items {
            guard case .message(let message, let direction) = item.content else { continue }
            if direction == .toHost { bytes += message.bytes } else { answers.append(message.header.kind) }
            #expect((item.arrival ?? .seconds(-1)) >= .zero)
            #expect(item.arrival.map { $0 <= now() - began + .seconds(1) } == true)
        }
        #expect(bytes == sent.flatMap { $0 })
        #expect(answers.contains(.watched))
    }

    @Test("who records counts as a viewer until recording ends")
    func countsAsViewer() throws {
        let host = try Host()
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        try capture.wait(for: "to be told to run") { $0.contains(.watched) }
        #expect(!capture.received.contains(.unwatched))
        host.hub.changeViewers(by: 1)
        host.hub.changeViewers(by: -1)
        host.ingest.setRecorded(false)
        try capture.wait(for: "a pause") { $0.contains(.unwatched) }
    }

    @Test("the proof of a token is not recorded")
    func proof() throws {
        let host = try Host()
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        let bytes = [UInt8](repeating: 1, count: 32)
        try capture.send(.answer(nonce: bytes, code: bytes))
        try capture.send(.statistics(CaptureStatistics()))
        try eventually("three messages or two", holds: { host.hasRecorded })
        capture.connection.close()
        try eventually("its end", holds: { if case .gone = host.ingest.hub.sourceState { true } else { false } })
        let kinds = try host.items().compactMap { item -> UInt8? in
            if case .message(let message, .toHost) = item.content { message.header.kindCode } else { nil }
        }
        #expect(kinds == [1, 4])
    }

    @Test("a replay's pictures claim no capture time, and one that comes twice goes on behind itself")
    func replay() throws {
        let host = try Host()
        let reader = host.hub.subscribe {}
        let pictures = try PlainPictures()
        let unit = try pictures.next(shade: 50, isIDR: true)
        var taken: [TrackFrame] = []
        for count in 1...2 {
            let replay = try TestCapture(path: host.path)
            try replay.send(.hello(Hello(role: .replay, name: "r", processID: 1, makesKeyFrames: false)))
            try replay.send(unit)
            try eventually("the unit") {
                taken += reader.take()
                return taken.count == count ? () : nil
            }
            replay.connection.close()
            try eventually("its end", holds: { if case .gone = host.ingest.hub.sourceState { true } else { false } })
        }
        #expect(taken.allSatisfy { $0.coded.captureTime == nil })
        #expect(taken.map(\.coded.bytes) == [unit.bytes, unit.bytes])
        #expect(taken[0].time < taken[1].time)
    }

    @Test("a capture that says later that it is a replay stays a capture")
    func secondHello() throws {
        let host = try Host()
        let reader = host.hub.subscribe {}
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        try capture.send(.hello(Hello(role: .replay, name: "r", processID: 1, makesKeyFrames: false)))
        let unit = try PlainPictures().next(shade: 50, isIDR: true).withCaptureTime(now())
        try capture.send(unit)
        let taken = try eventually("the unit") { reader.take().first }
        // A replay's picture would have none.
        #expect(taken.coded.captureTime == unit.captureTime)
    }

    @Test("what a publisher sends is recorded on behind a gap, from the next picture, though no IDR comes")
    func publicationBehindGap() throws {
        let file = try StalledFile()
        defer { file.close() }
        let recorder = try LinkRecorder(
            try RecordingFile(creating: file.path, overwriting: true), limit: 50_000, log: .silent)
        var recording = PublicationRecording(recorder, epoch: 7, at: now())
        let pictures = try PlainPictures()
        recording.record(try pictures.next(shade: 10, isIDR: true), at: now())
        // This picture has only slices, as all but the first have.
        let slice = try pictures.next(shade: 10)
        try eventually("more than the queue takes") {
            for _ in 0..<1000 { recording.record(slice, at: now()) }
            return recorder.status.counters.missingMessages >= 100
        }

        let missing = recorder.status.counters.missingMessages
        var more = 0
        try eventually("a picture behind the gap") {
            file.read()
            recording.record(slice, at: now())
            more += 1
            return recorder.status.counters.missingMessages < missing + UInt64(more)
        }
        recorder.finish()
        try eventually("the end", holds: { file.read() })
        var reading = RecordingReader()
        reading.push(file.bytes[...])
        var items: [RecordedItem] = []
        while let item = reading.next() { items.append(item) }
        let gap = try #require(items.lastIndex { if case .gap = $0.content { true } else { false } })
        let kinds = items[gap...].compactMap { item -> MessageKind? in
            if case .message(let message, .toHost) = item.content { message.header.kind } else { nil }
        }
        #expect(kinds.prefix(2) == [.picture, .unit])
        #expect(reading.fault == nil)
    }

    @Test("a disk that hangs doesn't hold up the link's end: capture is told, and what is missing is known")
    func stalled() throws {
        let folder = try TemporaryFolder()
        let file = try StalledFile()
        defer { file.close() }
        let recorder = try LinkRecorder(try RecordingFile(creating: file.path, overwriting: true), log: .silent)
        let server = try LinkServer(
            at: .unix(path: folder.file("s.sock")), ingest: TrackIngest(hub: TrackHub(origin: now()), log: .silent),
            sound: TrackHub(origin: now()), name: "test host", recorder: recorder, log: .silent)
        let capture = try TestCapture(path: folder.file("s.sock"))
        try capture.greet()
        let payload = [0, 0, 0, 1, 0x0C] + [UInt8](repeating: 1, count: 1_000_000)
        try capture.send(
            bytes: MessageEncoder(epoch: 99).unitHeader(
                payloadCount: payload.count, captureTime: nil, endsFrame: true) + payload)
        let began = now()
        server.stop()
        #expect(now() - began < .seconds(2))
        try capture.waitForEnd()
        #expect(capture.endNotice?.reason == .stopped)
        #expect(!recorder.close(within: .milliseconds(100)))
        #expect(now() - began < .seconds(4))
        guard case .stalled(file.path, let missing)? = recorder.status.failure else {
            Issue.record("\(recorder.status)")
            return
        }
        #expect(missing > 900_000)
    }

    @Test("a replay that is faster than its recording waits for it, and loses nothing", arguments: [1, 4096, 1 << 20])
    func heldBack(limit: Int) throws {
        let host = try Host(limit: limit)
        let replay = try TestCapture(path: host.path)
        try replay.send(.hello(Hello(role: .replay, name: "r", processID: 1, makesKeyFrames: false)))
        let encoder = MessageEncoder(epoch: 99)
        var sent: [UInt8] = []
        var random = SeededRandom(seed: 7)
        for number in 0..<600 {
            let count = Int(random.next() % 20_000) + 5
            let payload = [0, 0, 0, 1, 0x0C] + [UInt8](repeating: UInt8(number & 0xFF) | 1, count: count)
            sent +=
                try encoder.unitHeader(payloadCount: payload.count, captureTime: nil, endsFrame: true) + payload
        }
        try replay.send(bytes: sent)
        replay.connection.close()
        try eventually("its end", holds: { if case .gone = host.ingest.hub.sourceState { true } else { false } })
        let recorded = try host.items().flatMap { item -> [UInt8] in
            guard case .message(let message, .toHost) = item.content, message.header.kind == .unit else { return [] }
            return message.bytes
        }
        #expect(recorded == sent)
    }
}
