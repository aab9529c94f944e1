import CaptureLink
import MediaTypes
import Recording
import TestSupport
import Testing

@Suite("Raw dumps")
struct LinkMessageSplitterTests {
    private static let vectors = [
        "access-unit", "legacy40", "legacy16", "unknown-kind", "longer-hello", "short-picture", "hello-capture", "end",
    ]

    private func vector(_ name: String) throws -> [UInt8] {
        let file = try fileBytes(packageRoot + "/Protocol/vectors/capture-link/" + name + ".hex")
        let lines = String(decoding: file, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        let digits = lines.joined().compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private func messages(_ reading: Reading) -> [LinkBytes] {
        reading.items.compactMap { if case .message(let message, _) = $0.content { message } else { nil } }
    }

    @Test("every form is split into messages that are the dump when put together", arguments: vectors)
    func split(name: String) throws {
        let bytes = try vector(name)
        let reading = Reading(bytes, .dump)
        #expect(reading.stream.fault == nil)
        #expect(messages(reading).flatMap(\.bytes) == bytes)
        #expect(Reading(bytes, .dump, piece: 1).items == reading.items)
        var decoder = MessageDecoder()
        decoder.push(bytes)
        var expected: [ReceivedMessage] = []
        while let message = try decoder.next() { expected.append(message) }
        #expect(try messages(reading).compactMap { try $0.received() } == expected)
        #expect(reading.stream.linkForm == decoder.form)
    }

    @Test("what was pushed is let go: whoever reads a connection can use the same memory again")
    func memory() throws {
        let message = try vector("access-unit")
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        buffer.replaceSubrange(..<message.count, with: message)
        let place = buffer.withUnsafeBufferPointer { $0.baseAddress }
        var splitter = LinkMessageSplitter()
        var start = 0
        for end in [1, 7, 50, message.count] {
            splitter.push(buffer[start..<end])
            start = end
            while splitter.next() != nil {}
            // Without a copy, because nobody else has it.
            buffer[0] = 0x26
            #expect(buffer.withUnsafeBufferPointer { $0.baseAddress } == place)
        }
        splitter = LinkMessageSplitter()
        splitter.push(message[..<50])
        while splitter.next() != nil {}
        #expect(splitter.unfinishedBytes <= 50)
    }

    @Test(
        "what the host would refuse is a fault at the same place",
        arguments: [
            "bad-marker", "bad-length", "bad-control-length", "bad-short", "bad-start-code",
        ])
    func refused(name: String) throws {
        let bytes = try vector(name)
        var decoder = MessageDecoder()
        decoder.push(bytes)
        var count = 0
        var expected: LinkError?
        do throws(LinkError) {
            while try decoder.next() != nil { count += 1 }
        } catch {
            expected = error
        }
        let reading = Reading(bytes, .dump)
        #expect(reading.items.count == count)
        #expect(reading.stream.fault == expected.map { .link($0) })
    }

    @Test("a dump that was cut gives what is whole, and names the message that is not", arguments: vectors)
    func cuts(name: String) throws {
        let bytes = try vector(name)
        let whole = Reading(bytes, .dump)
        for count in 1..<bytes.count {
            let reading = Reading(Array(bytes[..<count]), .dump)
            let expected = whole.items.filter { $0.offset + $0.byteCount <= UInt64(count) }
            #expect(reading.items == expected)
            let end = expected.last.map { $0.offset + $0.byteCount } ?? 0
            #expect(reading.stream.offset == end)
            #expect((reading.stream.fault == nil) == (end == UInt64(count)))
            #expect(reading.stream.fault?.isCut ?? true)
        }
    }

    @Test("behind a fault the next message is found", arguments: [HeaderFormat.extended, .legacy40, .legacy16])
    func resumeAfterDamage(form: HeaderFormat) throws {
        var random = SeededRandom(seed: 21)
        let encoder = MessageEncoder(form: form, epoch: form == .extended ? 9 : 0)
        var bytes: [UInt8] = []
        for index in 0..<20 {
            let payload: [UInt8] =
                [0, 0, 0, 1, 0x41] + (0..<50 + index).map { _ in .random(in: 1...255, using: &random) }
            bytes += try encoder.unitHeader(
                payloadCount: payload.count, captureTime: MonotonicTime(nanoseconds: 1_000), endsFrame: true)
            bytes += payload
        }
        let whole = Reading(bytes, .dump)
        let third = Int(whole.items[3].offset)
        var changed = bytes
        changed[third] = 0x27
        let (reading, faults) = Reading.all(changed, .dump)
        #expect(faults.map(\.offset) == [UInt64(third)])
        #expect(reading.items == whole.items.filter { $0.offset != UInt64(third) })
        changed = bytes
        changed.insert(contentsOf: [1, 2, 0x26, 4], at: third)
        let (inserted, moreFaults) = Reading.all(changed, .dump)
        #expect(moreFaults.map(\.offset) == [UInt64(third)])
        #expect(messages(inserted) == messages(whole))
    }

    @Test("random changes bring nothing down")
    func mutations() throws {
        var random = SeededRandom(seed: 22)
        for name in Self.vectors {
            let bytes = try vector(name)
            for _ in 0..<300 {
                let changed = random.mutation(of: bytes)
                let (reading, _) = Reading.all(changed, .dump)
                var end: UInt64 = 0
                for item in reading.items {
                    #expect(item.offset >= end)
                    end = item.offset + item.byteCount
                }
                #expect(end <= UInt64(changed.count))
            }
        }
    }
}
