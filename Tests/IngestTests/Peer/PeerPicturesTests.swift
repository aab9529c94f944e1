import CaptureLink
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import Ingest

@Suite("a peer's pictures")
struct PeerPicturesTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// Returns what `pictures` makes of an access unit that arrives at `start`.
    private func next(_ pictures: inout PeerPictures, _ unit: CodedFrame) throws -> (frame: CodedFrame, epoch: UInt64)?
    {
        for message in try messages(of: unit) { pictures.add(message, at: start) }
        return pictures.next(start)
    }

    private func messages(_ bodies: [LinkMessage]) -> [ReceivedMessage] {
        bodies.map { body in
            let header = MessageHeader(
                kindCode: body.kind.rawValue, flags: [], length: 0, captureTime: nil, epoch: 99)
            return ReceivedMessage(header: header, form: .extended, body: body)
        }
    }

    private func messages(of unit: CodedFrame, form: HeaderFormat = .extended) throws -> [ReceivedMessage] {
        let encoder = MessageEncoder(form: form, epoch: form == .extended ? 99 : 0)
        var decoder = MessageDecoder()
        var messages: [ReceivedMessage] = []
        for part in try encoder.headers(for: unit) {
            let bytes = part.header + unit.bytes[part.payload]
            decoder.push(bytes[...])
            while let message = try decoder.next() { messages.append(message) }
        }
        return messages
    }

    @Test("of this machine keep their capture time and their epoch")
    func here() throws {
        var pictures = PeerPictures(isElsewhere: false, replayNumber: 7, log: .silent)
        pictures.greeted()
        #expect(pictures.deadline == .distantFuture)
        let ping = pictures.pingIfDue(start)
        #expect(ping == nil)
        let unit = try PlainPictures().next(shade: 80, isIDR: true)
        let taken = try #require(try next(&pictures, unit))
        #expect(unit.captureTime != nil)
        #expect(taken.frame.captureTime == unit.captureTime)
        #expect(taken.frame.bytes == unit.bytes)
        #expect(taken.epoch == 99)
        let further = pictures.next(start)
        #expect(further == nil)
    }

    @Test("of a recording have no capture time, and an epoch of this replay")
    func replay() throws {
        var pictures = PeerPictures(isElsewhere: true, replayNumber: 7, log: .silent)
        pictures.isReplay = true
        pictures.greeted()
        // A replay has no clock that could be asked.
        let ping = pictures.pingIfDue(start)
        #expect(ping == nil)
        let taken = try #require(try next(&pictures, PlainPictures().next(shade: 80, isIDR: true)))
        #expect(taken.frame.captureTime == nil)
        #expect(taken.epoch == 99 ^ 7)
    }

    @Test("of another machine have no capture time until its clock is known, then one on ours")
    func elsewhere() throws {
        let lines = Mutex<[String]>([])
        var pictures = PeerPictures(
            isElsewhere: true, replayNumber: 7, log: EventLog { _, line in lines.withLock { $0.append(line) } })
        let source = try PlainPictures()
        let early = pictures.pingIfDue(start)
        #expect(early == nil)
        pictures.greeted()
        let unknown = try #require(try next(&pictures, source.next(shade: 80, isIDR: true)))
        #expect(unknown.frame.captureTime == nil)
        #expect(pictures.deadline <= start)
        let ping = pictures.pingIfDue(start)
        #expect(ping == start)
        let second = pictures.pingIfDue(start)
        #expect(second == nil)
        let ahead = Interval.seconds(3)
        let there = start + ahead + .milliseconds(1)
        let echo = ClockEcho(asked: start, received: there, sent: there)
        let answer = pictures.take(echo, start + .milliseconds(2))
        let timing = try #require(answer)
        #expect(timing.roundTrip == .milliseconds(2))
        #expect(timing.clockOffset == ahead)
        #expect(lines.withLock { $0 } == ["link: capture is 2.00 ms there and back, its clock is ours +3000.00 ms"])
        let unit = try source.next(shade: 90)
        let known = try #require(try next(&pictures, unit))
        #expect(known.frame.captureTime == unit.captureTime.map { $0 - ahead })
        #expect(known.epoch == 99)
    }

    @Test("count with the times of their stages, as far as the sender tells them and shows a change")
    func stages() throws {
        var pictures = PeerPictures(isElsewhere: false, replayNumber: 7, log: .silent)
        let source = try PlainPictures()
        let whole = PixelRectangle(x: 0, y: 0, width: 16, height: 16)
        let nothing = PixelRectangle(x: 0, y: 0, width: 0, height: 0)
        func take(_ notice: PictureNotice, isIDR: Bool = false) throws {
            let unit = try source.next(shade: 80, isIDR: isIDR)
            let sent = messages([.picture(notice)]) + (try messages(of: unit))
            let arrival = try #require(unit.captureTime) + .milliseconds(7)
            for message in sent { pictures.add(message, at: arrival) }
            #expect(pictures.next(arrival) != nil)
        }
        try take(PictureNotice(sequenceNumber: 0, damage: whole), isIDR: true)
        #expect(pictures.stages.encoding.count == 0 && pictures.stages.link.count == 0)
        try take(PictureNotice(sequenceNumber: 1, damage: whole, waited: .milliseconds(3), worked: .milliseconds(5)))
        try take(PictureNotice(sequenceNumber: 2, damage: nothing, waited: .seconds(9), worked: .milliseconds(5)))
        #expect(pictures.stages.waiting.count == 1 && pictures.stages.waiting.sum == .milliseconds(3))
        #expect(pictures.stages.encoding.count == 1 && pictures.stages.encoding.sum == .milliseconds(5))
        #expect(pictures.stages.link.count == 1 && pictures.stages.link.sum == .milliseconds(2))
        #expect(pictures.stages.changeAge == .milliseconds(3))
        // Of a change that waits for long, there is a newer one.
        for number in 3...99 as ClosedRange<UInt64> {
            try take(PictureNotice(sequenceNumber: number, damage: whole, waited: .seconds(1), worked: .zero))
        }
        let age = try #require(pictures.stages.changeAge)
        #expect(age > .milliseconds(16) && age < .milliseconds(17))
    }

    @Test("of a legacy sender are whole when nothing more has come for 40 ms")
    func legacy() throws {
        var pictures = PeerPictures(isElsewhere: false, replayNumber: 7, log: .silent)
        let unit = try PlainPictures().next(shade: 80, isIDR: true)
        for message in try messages(of: unit, form: .legacy40) { pictures.add(message, at: start) }
        let unfinished = pictures.next(start)
        #expect(unfinished == nil)
        #expect(pictures.deadline == start + .milliseconds(40))
        let isEarly = pictures.timeoutIfDue(start + .milliseconds(39))
        #expect(!isEarly)
        let isDue = pictures.timeoutIfDue(start + .milliseconds(40))
        #expect(isDue)
        let whole = pictures.next(start)
        #expect(whole?.frame.isRandomAccess == true)
        #expect(pictures.deadline == .distantFuture)
    }

    @Test("that can't be used are said in a line a second, and the rest in the last")
    func faults() throws {
        let lines = Mutex<[String]>([])
        var pictures = PeerPictures(
            isElsewhere: false, replayNumber: 7, log: EventLog { _, line in lines.withLock { $0.append(line) } })
        // This can't be decoded: a picture that is no IDR, before any parameter sets.
        let source = try PlainPictures()
        _ = try source.next(shade: 80, isIDR: true)
        func add() throws { #expect(try next(&pictures, source.next(shade: 90)) == nil) }
        try add()
        pictures.logFaults(start)
        #expect(lines.withLock { $0.count } == 1)
        try add()
        pictures.logFaults(start + .milliseconds(999))
        #expect(lines.withLock { $0.count } == 1)
        #expect(pictures.deadline == start + .seconds(1))
        pictures.logFaults(start + .seconds(1))
        #expect(lines.withLock { $0.count } == 2)
        #expect(pictures.deadline == .distantFuture)
        try add()
        pictures.logFaults(start + .milliseconds(1001), isLast: true)
        pictures.logFaults(start + .milliseconds(1001), isLast: true)
        #expect(lines.withLock { $0.count } == 3)
        #expect(lines.withLock { $0.last }?.contains(" units could not be used") == true)
    }
}
