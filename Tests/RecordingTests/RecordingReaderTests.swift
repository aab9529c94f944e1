import ByteCoding
import CaptureLink
import MediaTypes
import Recording
import TestSupport
import Testing

@Suite("Recordings")
struct RecordingReaderTests {
    @Test("a whole recording is read to its end, in pieces of any size", arguments: RecordingVectors.whole)
    func whole(name: String) throws {
        let bytes = try RecordingVectors.bytes(name)
        let reading = Reading(bytes)
        #expect(reading.stream.fault == nil)
        #expect(reading.stream.hasEnd)
        #expect(reading.stream.offset == UInt64(bytes.count))
        #expect(
            reading.stream.header
                == RecordingHeader(
                    start: MonotonicTime(nanoseconds: 12_345_000_000_000), wallClock: 1_790_000_000_123_456_789))
        for piece in [1, 2, 3, 7, 23, 24, 25, 64] {
            let pieces = Reading(bytes, piece: piece)
            #expect(pieces.items == reading.items)
            #expect(pieces.stream.fault == nil)
        }
    }

    @Test("items have their place, their time and what they hold")
    func items() throws {
        let items = Reading(try RecordingVectors.bytes("recording")).items
        #expect(items.map(\.offset) == [48, 72, 152, 216, 296])
        #expect(items.map(\.byteCount) == [24, 80, 64, 80, 24])
        #expect(items.map(\.arrival?.nanoseconds) == [100_000, 1_000_000, 1_500_000, 2_000_000, 9_000_000])
        #expect(items.first?.content == .connection)
        #expect(items.last?.content == .end)
        let messages = items.compactMap { item -> (LinkBytes, LinkDirection)? in
            if case .message(let message, let direction) = item.content { (message, direction) } else { nil }
        }
        #expect(messages.map(\.1) == [.toHost, .toCapture, .toHost])
        #expect(messages.map(\.0.header.kind) == [.hello, .requestKeyFrame, .unit])
        let hello = try #require(try messages[0].0.received())
        let expected = Hello(role: .capture, name: "screen", processID: 4242, makesKeyFrames: true)
        #expect(hello.body == .hello(expected))
        #expect(messages[2].0.unit?.first == 0x65)
        #expect(messages[2].0.header.captureTime == MonotonicTime(nanoseconds: 12_345_678_901_234))
    }

    @Test("a gap says how much is missing, and since when")
    func gap() throws {
        let gaps = try ["gap", "longer-gap"].map { name in
            Reading(try RecordingVectors.bytes(name)).items.compactMap { item in
                if case .gap(let gap) = item.content { gap } else { nil }
            }
        }
        #expect(gaps[0] == [RecordingGap(messages: 2, bytes: 70_000, from: .milliseconds(3), to: .milliseconds(5))])
        #expect(gaps[1] == [RecordingGap(messages: 2, bytes: 61, from: .zero, to: .zero)])
    }

    @Test("messages of both legacy forms keep their headers")
    func legacy() throws {
        let messages = Reading(try RecordingVectors.bytes("legacy")).items.compactMap { item in
            if case .message(let message, _) = item.content { message } else { nil }
        }
        #expect(messages.map(\.form) == [.legacy40, .legacy40, .legacy16])
        #expect(messages.map { $0.unit?.first } == [0x67, 0x65, 0x68])
    }

    @Test("the writer writes the vectors, byte for byte")
    func writer() throws {
        for name in ["recording", "gap", "legacy", "replayed"] {
            let bytes = try RecordingVectors.bytes(name)
            let reading = Reading(bytes)
            let header = try #require(reading.stream.header)
            #expect(written(reading.items, header) == bytes)
        }
    }

    @Test(
        "a fault is named with its place, and what is behind it can be read", arguments: RecordingVectors.faulty.indices
    )
    func faulty(index: Int) throws {
        let vector = RecordingVectors.faulty[index]
        let bytes = try RecordingVectors.bytes(vector.name)
        let reading = Reading(bytes)
        #expect(reading.stream.fault == vector.fault)
        #expect(reading.items.count == vector.before)
        #expect(reading.stream.offset == vector.fault.offset)
        #expect(Reading(bytes, piece: 1).stream.fault == vector.fault)
        let (all, faults) = Reading.all(bytes)
        #expect(faults.first == vector.fault)
        #expect(all.items.dropFirst(vector.before).first?.offset == vector.next)
        if vector.next != nil {
            #expect(faults.count == 1)
            #expect(all.stream.offset == UInt64(bytes.count))
        }
    }

    @Test("a recording without an end is whole, and says that it has none")
    func noEnd() throws {
        let reading = Reading(try RecordingVectors.bytes("no-end"))
        #expect(reading.stream.fault == nil)
        #expect(!reading.stream.hasEnd)
    }

    @Test("reading goes on at any item's place")
    func restart() throws {
        let bytes = try RecordingVectors.bytes("gap")
        let whole = Reading(bytes)
        var stream = whole.stream
        for (index, item) in whole.items.enumerated() {
            stream.restart(at: item.offset)
            stream.push(bytes[Int(item.offset)...])
            stream.finish()
            var items: [RecordedItem] = []
            while let item = stream.next() { items.append(item) }
            #expect(items == Array(whole.items[index...]))
        }
    }

    @Test("every prefix of every vector is read without harm, up to where it is whole")
    func prefixes() throws {
        for name in RecordingVectors.whole {
            let bytes = try RecordingVectors.bytes(name)
            let ends = Set(Reading(bytes).items.map { $0.offset + $0.byteCount })
            for count in 1..<bytes.count {
                let reading = Reading(Array(bytes.prefix(count)))
                let fault = reading.stream.fault
                #expect(fault?.isCut ?? ends.union([UInt64(reading.stream.offset)]).contains(UInt64(count)))
                #expect(fault == nil || fault?.offset == reading.stream.offset)
            }
        }
    }

    @Test("random changes bring nothing down, and most of what is whole is found again")
    func mutations() throws {
        var random = SeededRandom(seed: 4)
        for name in RecordingVectors.all {
            let bytes = try RecordingVectors.bytes(name)
            for _ in 0..<300 {
                let changed = random.mutation(of: bytes)
                let (reading, faults) = Reading.all(changed)
                #expect(faults.count <= changed.count + 1)
                var end: UInt64 = 0
                for item in reading.items {
                    #expect(item.offset >= end)
                    end = item.offset + item.byteCount
                }
                #expect(end <= UInt64(changed.count))
            }
        }
    }

    private func written(_ items: [RecordedItem], _ header: RecordingHeader) -> [UInt8] {
        let recorder = RecordingWriter(header: header)
        var writer = ByteWriter()
        writer.append(header.bytes)
        for item in items {
            let time = header.start + (item.arrival ?? .zero)
            switch item.content {
            case .message(let message, let direction):
                recorder.appendHeader(
                    of: message.bytes[...], form: message.form, direction: direction, at: time, to: &writer)
                writer.append(message.bytes)
            case .connection: recorder.appendConnection(at: time, to: &writer)
            case .gap(let gap): recorder.appendGap(gap, at: time, to: &writer)
            case .end: recorder.appendEnd(at: time, to: &writer)
            case .nalUnit, .otherBytes: Issue.record("not in a recording")
            }
        }
        return writer.bytes
    }
}
