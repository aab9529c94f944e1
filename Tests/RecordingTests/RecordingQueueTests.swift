import CaptureLink
import Glibc
import MediaTypes
import Recording
import Synchronization
import TestSupport
import Testing
import Threading

@testable import RecordingFiles

@Suite("The queue in front of a recording")
struct RecordingQueueTests {
    /// What a queue's handler heard.
    final class Events: Sendable {
        private let events = Mutex<[RecordingQueue.Event]>([])
        var all: [RecordingQueue.Event] { events.withLock { $0 } }
        func add(_ event: RecordingQueue.Event) { events.withLock { $0.append(event) } }
    }

    let folder: TemporaryFolder
    let events = Events()
    let received = Received()

    init() throws {
        folder = try TemporaryFolder()
    }

    func queue(_ path: String, limit: Int = 16 << 20, isLossless: Bool = false) throws -> RecordingQueue {
        let header = RecordingHeader(start: .zero, wallClock: 3)
        let file = try RecordingFile(creating: path, overwriting: true, header: header)
        return try RecordingQueue(file, limit: limit, isLossless: isLossless) { [events] in events.add($0) }
    }

    func picture(_ number: Int, size: Int = 1_000) throws -> LinkBytes {
        try #require(LinkBytes(try message(of: size, picture: number), form: .extended))
    }

    private func notice(_ number: Int) throws -> LinkBytes {
        let notice = PictureNotice(
            sequenceNumber: UInt64(number), damage: PixelRectangle(x: 0, y: 0, width: 1, height: 1))
        return try #require(LinkBytes(MessageEncoder(epoch: 1).encode(.picture(notice)), form: .extended))
    }

    func time(_ milliseconds: Int) -> MonotonicTime { .zero + .milliseconds(Int64(milliseconds)) }

    /// Reads all that comes, on a thread of its own: the writing one is held back no more.
    func drain(_ file: StalledFile) -> NamedThread? {
        #expect(fcntl(file.reader, F_SETFL, 0) == 0)
        return NamedThread("drain") { [received, reader = file.reader] in received.set(allBytes(reader)) }
    }

    @Test("what is added is in the file, in order and with its time, and the end behind it")
    func order() throws {
        let path = folder.file("recording")
        let queue = try queue(path)
        queue.beginConnection(at: time(1))
        for number in 0..<500 {
            queue.add(try picture(number, size: number == 250 ? 700_000 : 1_000), at: time(number + 2))
        }
        queue.add(try notice(1), direction: .toCapture, at: time(600))
        queue.close()
        let reading = Reading(try fileBytes(path))
        #expect(reading.stream.fault == nil)
        #expect(reading.stream.hasEnd)
        #expect(reading.items.count == 503)
        for number in 0..<500 {
            let item = reading.items[number + 1]
            #expect(item.arrival == .milliseconds(Int64(number + 2)))
            guard case .message(let message, .toHost) = item.content else {
                Issue.record("no message")
                return
            }
            #expect(message.header.captureTime?.nanoseconds == Int64(number))
        }
        #expect(queue.counters.messages == 501)
        #expect(queue.counters.fileBytes <= UInt64(try fileBytes(path).count))
        #expect(events.all.isEmpty)
        queue.close()
        queue.add(try notice(2), at: time(700))
        #expect(Reading(try fileBytes(path)).items.count == 503)
    }

    @Test("a live link's messages that find no room are a gap in the file, which ends at a picture's beginning")
    func gap() throws {
        let file = try StalledFile()
        defer { file.close() }
        let queue = try queue(file.path, limit: 400_000)
        // Pictures of a notice and two messages; the pipe takes 64 KiB, and the queue the rest up to its limit.
        var added = 0
        func add(_ count: Int) throws {
            for _ in 0..<count {
                queue.add(try notice(added), at: time(added))
                queue.add(try picture(added, size: 5_000), at: time(added))
                queue.add(try picture(added, size: 5_000), at: time(added))
                added += 1
            }
        }
        try add(100)
        let missing = queue.counters.missingMessages
        #expect(missing > 100)
        #expect(queue.counters.gaps == 1)
        #expect(queue.hasRoom == false || missing > 0)
        let draining = drain(file)
        try eventually("the queue is empty", holds: { queue.counters.messages == UInt64(added * 3) - missing })
        // In the middle of a picture the gap goes on.
        queue.add(try picture(added, size: 5_000), at: time(added))
        try add(2)
        queue.close()
        draining?.join()
        let reading = Reading(received.all)
        #expect(reading.stream.fault == nil)
        #expect(reading.stream.hasEnd)
        let index = try #require(reading.items.firstIndex { if case .gap = $0.content { true } else { false } })
        guard case .gap(let gap) = reading.items[index].content else { return }
        #expect(gap.messages == missing + 1)
        #expect(gap.to == .milliseconds(100))
        #expect(events.all == [.gap(gap)])
        guard case .message(let next, _) = reading.items[index + 1].content else {
            Issue.record("no message")
            return
        }
        #expect(next.header.kind == .picture)
        let messages = reading.items.count { if case .message = $0.content { true } else { false } }
        #expect(UInt64(messages) + gap.messages == UInt64(added * 3 + 1))
    }

    @Test("a gap ends once half of the queue is free, and no sooner")
    func gapEnd() throws {
        // Ten pictures have room, with what each costs besides its bytes.
        let backlog = try RecordingBacklog(
            path: "", header: RecordingHeader(start: .zero, wallClock: 3), limit: 102_000, isLossless: false
        ) { [events] in events.add($0) }
        let messages = try (0..<10).map { try picture($0, size: 10_000) }
        for message in messages { backlog.add(message, .toHost, mayBeLost: nil, at: time(1)) }
        #expect(backlog.counters.missingMessages == 0)
        backlog.add(try picture(10, size: 10_000), .toHost, mayBeLost: nil, at: time(2))
        #expect(backlog.counters.missingMessages == 1)
        // A picture may begin with a notice, which would have room.
        backlog.wrote(Array(messages[..<4]), others: 0, fileBytes: 0)
        backlog.add(try notice(11), .toHost, mayBeLost: nil, at: time(3))
        #expect(backlog.counters.missingMessages == 2 && events.all.isEmpty)
        backlog.wrote([messages[4]], others: 0, fileBytes: 0)
        backlog.add(try notice(12), .toHost, mayBeLost: nil, at: time(4))
        #expect(backlog.counters.missingMessages == 2 && backlog.counters.gaps == 1)
        guard case .gap(let gap)? = events.all.first else {
            Issue.record("no gap")
            return
        }
        #expect(gap.messages == 2 && events.all.count == 1)
    }

    @Test("packets of sound that find no room are missing without a gap, which would cost pictures")
    func sound() throws {
        let file = try StalledFile()
        defer { file.close() }
        let queue = try queue(file.path, limit: 200_000)
        let payload = [0, 0, 0, 1] + [UInt8](repeating: 0x65, count: 5_000)
        let header = try MessageEncoder(epoch: 2, stream: MessageHeader.soundStream).unitHeader(
            payloadCount: payload.count, captureTime: nil, endsFrame: true)
        let packet = try #require(LinkBytes(header + payload, form: .extended))
        var added = 0
        while queue.counters.missingMessages < 3 {
            queue.add(packet, at: time(added))
            added += 1
            try #require(added < 1_000)
        }
        let draining = drain(file)
        try eventually("the queue is empty", holds: { queue.counters.messages == UInt64(added - 3) })
        queue.add(try picture(added), at: time(added))
        queue.close()
        draining?.join()
        let reading = Reading(received.all)
        #expect(reading.stream.fault == nil && reading.stream.hasEnd)
        #expect(queue.counters.gaps == 0 && queue.counters.missingMessages == 3)
        #expect(events.all.isEmpty)
        // With the picture and the end.
        #expect(reading.items.count == added - 3 + 2)
    }

    @Test("a gap ends where its connection does, or the recording")
    func gapAtTheEnd() throws {
        let file = try StalledFile()
        defer { file.close() }
        let queue = try queue(file.path, limit: 200_000)
        for number in 0..<100 { queue.add(try picture(number, size: 5_000), at: time(number)) }
        queue.beginConnection(at: time(100))
        for number in 101..<110 { queue.add(try picture(number, size: 150_000), at: time(number)) }
        #expect(queue.counters.gaps == 2)
        let draining = drain(file)
        queue.close()
        draining?.join()
        let reading = Reading(received.all)
        #expect(reading.stream.fault == nil)
        let special = reading.items.compactMap { item -> String? in
            switch item.content {
            case .gap: "gap"
            case .connection: "connection"
            case .end: "end"
            default: nil
            }
        }
        #expect(special == ["gap", "connection", "gap", "end"])
        #expect(events.all.isEmpty)
    }

    @Test("a replay's queue loses nothing: it says when there is room")
    func lossless() throws {
        let file = try StalledFile()
        defer { file.close() }
        let queue = try queue(file.path, limit: 300_000, isLossless: true)
        var added = 0
        while queue.hasRoom {
            queue.add(try picture(added, size: 5_000), at: time(added))
            added += 1
            try #require(added < 1_000)
        }
        #expect(added > 50)
        #expect(events.all.isEmpty)
        let draining = drain(file)
        try eventually("there is room again", holds: { events.all == [.room] })
        #expect(queue.hasRoom)
        queue.close()
        draining?.join()
        #expect(Reading(received.all).items.count == added + 1)
    }

    @Test("a new file that gets no message is gone in the end, so that the next recording can have its name")
    func nothing() throws {
        let path = folder.file("nothing")
        func record(_ count: Int, isNew: Bool) throws {
            let file = try RecordingFile(creating: path, overwriting: !isNew)
            let queue = try RecordingQueue(file) { _ in }
            queue.beginConnection(at: now())
            for number in 0..<count { queue.add(try picture(number), at: now()) }
            #expect(queue.close())
        }
        try record(0, isNew: true)
        #expect(access(path, F_OK) != 0)
        try record(1, isNew: true)
        #expect(access(path, F_OK) == 0)
        // What was there before is not ours to remove.
        try record(0, isNew: false)
        #expect(Reading(try fileBytes(path)).stream.hasEnd)

        // Neither is what has the name now.
        let other = folder.file("other")
        let queue = try RecordingQueue(try RecordingFile(creating: other)) { _ in }
        #expect(unlink(other) == 0)
        try folder.write("other", [1, 2, 3])
        queue.close()
        #expect(try fileBytes(other) == [1, 2, 3])
    }
}

/// What came through a pipe.
final class Received: Sendable {
    private let bytes = Mutex<[UInt8]>([])
    var all: [UInt8] { bytes.withLock { $0 } }
    func set(_ all: [UInt8]) { bytes.withLock { $0 = all } }
}

/// All that comes out of a descriptor until its other end is closed.
private func allBytes(_ descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count <= 0 { return bytes }
        bytes += buffer[..<count]
    }
}
