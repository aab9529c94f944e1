import CaptureLink
import Glibc
import MediaTypes
import Recording
import RecordingFiles
import TestSupport
import Testing

/// Files with one limit, and files that the writing thread creates.
extension RecordingQueueTests {
    @Test("recordings with one budget end in good order, each by itself, before all of them together exceed it")
    func budget() throws {
        let budget = RecordingBudget(limit: 100_000)
        let paths = ["a", "b"].map { folder.file($0) }
        let events = [Events(), Events()]
        let queues = try zip(paths, events).map { path, events in
            try RecordingQueue(try RecordingFile(creating: path, budget: budget)) { events.add($0) }
        }
        queues[1].add(try picture(0, size: 30_000), at: now())
        try eventually("the second file's picture", holds: { queues[1].counters.messages == 1 })
        for number in 0..<100 { queues[0].add(try picture(number), at: now()) }
        try eventually("the end of the first", holds: { queues[0].failure != nil })
        queues[1].add(try picture(1), at: now())
        try eventually("the end of the second", holds: { queues[1].failure != nil })
        let files = try paths.map { try fileBytes($0) }
        #expect(files.map(\.count).reduce(0, +) <= 100_000 && files[0].count > 60_000 && files[1].count > 30_000)
        for (index, file) in files.enumerated() {
            let reading = Reading(file)
            #expect(reading.stream.hasEnd && reading.stream.fault == nil)
            let failure = RecordingFileError.limitReached(path: paths[index], limit: 100_000)
            #expect(queues[index].failure == failure && events[index].all == [.stopped(failure)])
        }
        // A file that has no room is not created.
        let late = Events()
        let path = folder.file("c")
        let queue = try RecordingQueue(creating: path, budget: RecordingBudget(limit: 10)) { late.add($0) }
        try eventually("its end", holds: { queue.isOver })
        #expect(late.all == [.stopped(.limitReached(path: path, limit: 10))])
        #expect(access(path, F_OK) != 0)
    }

    @Test("a recording without messages gives its part of the budget back")
    func emptyBudget() throws {
        let budget = RecordingBudget(limit: 5_000)
        for number in 0..<1_000 {
            let queue = try RecordingQueue(creating: folder.file("\(number)"), budget: budget) { _ in }
            queue.beginConnection(at: now())
            #expect(queue.close())
            #expect(access(folder.file("\(number)"), F_OK) != 0)
        }
    }

    @Test("a file that the writing thread creates has all that was added, also before")
    func createdLater() throws {
        let path = folder.file("later")
        let queue = try RecordingQueue(creating: path, budget: nil) { [events] in events.add($0) }
        queue.beginConnection(at: now())
        for number in 0..<200 { queue.add(try picture(number), at: now()) }
        #expect(!queue.isOver)
        #expect(queue.close())
        #expect(queue.isOver)
        let reading = Reading(try fileBytes(path))
        #expect(reading.stream.fault == nil && reading.stream.hasEnd && reading.items.count == 202)
        #expect(events.all.isEmpty)
    }

    @Test("where the writing thread can't create the file, recording stops and says so once, and the file there stays")
    func notCreated() throws {
        let taken = try folder.write("taken", [1, 2, 3])
        let nowhere = folder.file("none")
        let mistakes: [(String, RecordingFileError)] = [
            (taken, .exists(path: taken)), (nowhere + "/x", .folderMissing(path: nowhere + "/x", folder: nowhere)),
        ]
        for (path, failure) in mistakes {
            let events = Events()
            let queue = try RecordingQueue(creating: path, budget: nil) { events.add($0) }
            try eventually("its end", holds: { queue.isOver })
            queue.add(try picture(0), at: now())
            #expect(queue.hasRoom && !queue.close())
            #expect(events.all == [.stopped(failure)])
        }
        #expect(try fileBytes(taken) == [1, 2, 3])
    }
}
