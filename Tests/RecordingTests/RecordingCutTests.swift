import CaptureLink
import MediaTypes
import Recording
import TestSupport
import Testing

@Suite("Recordings that were cut or damaged")
struct RecordingCutTests {
    @Test("cut at each of its first 4,096 bytes and at 1,000 random ones, a recording gives what is whole")
    func cuts() throws {
        let (bytes, ends) = try sampleRecording(messages: 60, largest: 1_000, seed: 11)
        let whole = Reading(bytes)
        #expect(whole.items.count == ends.count - 1)
        #expect(whole.stream.hasEnd)
        var random = SeededRandom(seed: 12)
        let random1000 = (0..<1000).map { _ in Int.random(in: 4096..<bytes.count, using: &random) }
        for cut in Array(1...4096) + random1000 {
            let reading = Reading(Array(bytes[..<cut]), piece: 4096)
            let wholeEnds = ends.count { $0 <= cut }
            #expect(reading.items.count == max(0, wholeEnds - 1))
            #expect(reading.items.elementsEqual(whole.items.prefix(max(0, wholeEnds - 1))))
            let end = ends.last { $0 <= cut } ?? 0
            #expect(reading.stream.offset == UInt64(end))
            #expect((reading.stream.fault == nil) == (end == cut))
            if let fault = reading.stream.fault {
                #expect(fault.isCut)
                #expect(fault.offset == UInt64(end))
                #expect("\(fault)".contains(end == 0 ? "after \(cut) bytes" : "byte \(end)"))
            }
        }
    }

    @Test("one changed byte loses at most the record that it is in and the next")
    func oneByte() throws {
        let (bytes, ends) = try sampleRecording(messages: 60, largest: 300, seed: 13)
        let whole = Reading(bytes).items
        var random = SeededRandom(seed: 14)
        for _ in 0..<500 {
            let index = Int.random(in: 48..<bytes.count, using: &random)
            var changed = bytes
            changed[index] ^= UInt8.random(in: 1...255, using: &random)
            let record = ends.count { $0 <= index } - 1
            let reading = Reading(changed)
            #expect(reading.stream.fault?.offset == whole[record].offset)
            #expect(reading.items == Array(whole[..<record]))
            let (all, faults) = Reading.all(changed)
            #expect(faults.count == 1)
            #expect(all.items == whole.filter { $0.offset != whole[record].offset })
        }
    }

    @Test("bytes that were put in or taken out lose the records around them and no more")
    func shifted() throws {
        let (bytes, _) = try sampleRecording(messages: 60, largest: 300, seed: 15)
        let whole = Reading(bytes).items
        var random = SeededRandom(seed: 16)
        for _ in 0..<300 {
            let index = Int.random(in: 48..<bytes.count - 100, using: &random)
            let count = Int.random(in: 1...60, using: &random)
            var changed = bytes
            let isRemoval = Bool.random(using: &random)
            if isRemoval {
                changed.removeSubrange(index..<index + count)
            } else {
                changed.insert(contentsOf: (0..<count).map { _ in .random(in: 0...255, using: &random) }, at: index)
            }
            let (all, faults) = Reading.all(changed)
            #expect(!faults.isEmpty)
            let lost = whole.count - all.items.count
            #expect(lost <= (isRemoval ? 5 : 1))
            #expect(all.items.last?.content == .end)
        }
    }

    @Test("a file made to be searched again and again takes no longer than its length allows", .timeLimit(.minutes(5)))
    func nested() throws {
        // Each of 4,000 records holds all that follow it, and none has the right check.
        let header = RecordingHeader(start: .zero, wallClock: 0)
        let record = Array(try sampleRecording(messages: 1, largest: 8 << 20, seed: 18).bytes[72..<96])
        let records = Array(repeatElement(record, count: 4_000).joined())
        let (reading, faults) = Reading.all(header.bytes + records)
        #expect(reading.items.isEmpty)
        #expect(faults.count <= 3)
        let message = try MessageEncoder(form: .legacy16, epoch: 0).unitHeader(
            payloadCount: 8 << 20, captureTime: nil, endsFrame: false)
        let messages = Array(repeatElement(message + [0, 0, 0, 1, 0x41], count: 4_000).joined())
        #expect(Reading.all(messages, .dump).faults.count <= 3)
    }

    @Test("of a length that is a lie nothing is kept that is not there", arguments: [RecordedForm.recording, .dump])
    func forgedLengths(form: RecordedForm) throws {
        // A message of megabytes is promised, behind the file's and its record's headers; its own 40 bytes are all that
        // come.
        let (bytes, _) = try sampleRecording(messages: 1, largest: 8 << 20, seed: 17)
        #expect(bytes.count > 1 << 20)
        let front = bytes[..<(72 + 24 + 40)]
        var stream = RecordedStream(form: form)
        stream.push(form == .dump ? front.suffix(40) : front)
        while stream.next() != nil {}
        #expect(stream.fault == nil)
        #expect(stream.keptBytes == 40)
    }
}
