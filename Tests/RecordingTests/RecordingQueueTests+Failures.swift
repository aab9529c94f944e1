import CaptureLink
import Glibc
import MediaTypes
import Recording
import RecordingFiles
import TestSupport
import Testing
import Threading

/// Where recording stops before its end.
extension RecordingQueueTests {
    @Test("a recording that reaches its size limit ends there in good order, says so once, and takes no more")
    func sizeLimit() throws {
        for limit in [3_000, 3_071, 3_072, 3_100, 1_000_000] {
            let path = folder.file("limited \(limit)")
            let events = Events()
            let file = try RecordingFile(creating: path, sizeLimit: UInt64(limit))
            let queue = try RecordingQueue(file) { events.add($0) }
            queue.beginConnection(at: now())
            // One that goes to the file in one piece with others, and one that goes there by itself.
            for number in 0..<2_000 { queue.add(try picture(number, size: number == 500 ? 300_000 : 1_000), at: now()) }
            #expect(!queue.close())
            let failure = RecordingFileError.limitReached(path: path, limit: UInt64(limit))
            #expect(queue.failure == failure)
            #expect(events.all == [.stopped(failure)])
            let bytes = try fileBytes(path)
            #expect(bytes.count <= limit && bytes.count > limit - 302_000, "\(bytes.count)")
            #expect(queue.counters.fileBytes == UInt64(bytes.count))
            let reading = Reading(bytes)
            #expect(reading.stream.hasEnd && reading.stream.fault == nil)
            // The connection and the end are no messages.
            #expect(reading.items.count == Int(queue.counters.messages) + 2)
        }
    }

    @Test("who reads the pipe of a recording may go: recording stops, and says so once")
    func brokenPipe() throws {
        let file = try StalledFile()
        let queue = try queue(file.path)
        file.close()
        queue.add(try picture(0), at: time(0))
        try eventually("it has stopped", holds: { queue.failure != nil })
        queue.add(try picture(1), at: time(1))
        queue.close()
        #expect(events.all == [.stopped(.system(call: "write", path: file.path, code: EPIPE))])
    }

    @Test(
        "on a full disk recording stops, says so in one line, and the file is readable",
        .enabled(if: SmallDisk.isAvailable, "only root may mount the small disk that this needs"))
    func fullDisk() throws {
        let disk = try SmallDisk(kilobytes: 256)
        let path = disk.path + "/recording"
        let queue = try queue(path)
        for number in 0..<400 { queue.add(try picture(number), at: time(number)) }
        queue.add(try picture(400, size: 400_000), at: time(400))
        try eventually("it has stopped", holds: { queue.failure != nil })
        #expect(queue.hasRoom)
        queue.add(try picture(401), at: time(401))
        queue.close()
        let bytes = try fileBytes(path)
        let reading = Reading(bytes)
        #expect(reading.stream.fault == nil)
        #expect(!reading.stream.hasEnd)
        #expect(reading.items.count > 200)
        #expect(events.all == [.stopped(.diskFull(path: path, written: UInt64(bytes.count)))])
        #expect(queue.counters.fileBytes == UInt64(bytes.count))
        let words = queue.failure?.description ?? ""
        #expect(words.contains("full") && words.contains(path) && !words.contains("\n"))
    }

    @Test("a disk that hangs doesn't hold up the end: it is said how much is missing", .timeLimit(.minutes(5)))
    func stalled() throws {
        let file = try StalledFile()
        defer { file.close() }
        let queue = try queue(file.path)
        let messages = try (0..<10).map { try picture($0, size: 100_000) }
        for message in messages { queue.add(message, at: time(1)) }
        // Nobody reads from the pipe before this is over.
        #expect(!queue.close(within: .milliseconds(200)))
        guard case .stalled(file.path, let missing)? = queue.failure else {
            Issue.record("\(String(describing: queue.failure))")
            return
        }
        // A pipe has room for 64 KiB, which the queue has not seen arrive.
        #expect(missing == UInt64(messages.map(\.bytes.count).reduce(0, +)))
        #expect(queue.failure?.kind == .system)
        #expect(
            queue.failure?.description
                == "the disk does not take '\(file.path)': \(missing) bytes are missing at its end")
        #expect(!queue.close())
        #expect(events.all.isEmpty)
        // It goes on by itself where the disk does.
        let draining = drain(file)
        draining?.join()
        let reading = Reading(received.all)
        #expect(reading.stream.fault == nil)
        #expect(reading.stream.hasEnd)
        // With the end.
        #expect(reading.items.count == 11)
    }
}
