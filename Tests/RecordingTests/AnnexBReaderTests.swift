import CaptureLink
import H264
import MediaTypes
import Recording
import TestSupport
import Testing

@Suite("Annex B files")
struct AnnexBReaderTests {
    /// The file that comes out when its items travel over a link in our form, and are written again.
    private func relayed(_ items: [RecordedItem]) throws -> [UInt8] {
        let encoder = MessageEncoder(epoch: 5)
        var splitter = LinkMessageSplitter()
        var file: [UInt8] = []
        for item in items {
            switch item.content {
            case .nalUnit(let unit):
                var header = try encoder.unitHeader(
                    payloadCount: unit.payload.count, captureTime: MonotonicTime(nanoseconds: 7), endsFrame: false)
                if unit.hasShortStartCode { header[2] |= MessageFlags.shortStartCode.rawValue }
                splitter.push(header[...])
                splitter.push(unit.payload[...])
            case .otherBytes(let bytes): splitter.push(encoder.sourceBytes(bytes)[...])
            default: Issue.record("not in an Annex B file")
            }
            while let message = splitter.next() { file += message.annexB ?? [] }
        }
        splitter.finish()
        #expect(splitter.next() == nil)
        #expect(splitter.fault == nil)
        return file
    }

    private func check(_ bytes: [UInt8], pieces: [Int] = [1, 2, 3, 5]) throws {
        let reading = Reading(bytes, .annexB)
        #expect(reading.stream.fault == nil)
        #expect(reading.stream.offset == UInt64(bytes.count))
        #expect(reading.items.flatMap { $0.annexB ?? [] } == bytes)
        #expect(try relayed(reading.items) == bytes)
        for item in reading.items {
            #expect(item.annexB?.elementsEqual(bytes[Int(item.offset)...].prefix(Int(item.byteCount))) == true)
        }
        let units = reading.items.compactMap { item -> [UInt8]? in
            guard case .nalUnit(let unit) = item.content else { return nil }
            let bytes = unit.payload.dropFirst(4)
            return Array(bytes[...(bytes.lastIndex { $0 != 0 } ?? bytes.startIndex)])
        }
        #expect(units == AnnexB.nalUnits(in: bytes).map { Array(bytes[$0]) })
        for piece in pieces { #expect(Reading(bytes, .annexB, piece: piece).items == reading.items) }
    }

    @Test(
        "every stream goes over a link and comes out byte for byte the same",
        arguments: TestStreams.all)
    func streams(stream: TestStream) throws {
        let bytes = try stream.bytes()
        #expect(try RecordedForm(front: bytes) == .annexB)
        try check(bytes, pieces: [65_536, 1_000, 7])
    }

    private static let constructed: [[UInt8]] = [
        [0, 0, 1, 0x67],
        [0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0x65, 3],
        // Zeros behind NAL units, in front of start codes of both lengths, and at the end.
        [0, 0, 1, 0x67, 0, 0, 0, 0, 0, 1, 0x68, 0, 0, 0, 0, 0, 0, 1, 0x65, 9, 0],
        [0, 0, 1, 0x67, 0, 0, 0],
        // Zeros in front of the first start code.
        [0, 0, 0, 0, 1, 0x67], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x67, 0, 0, 1, 0x41],
        // Start codes without NAL units.
        [0, 0, 1, 0, 0, 1, 0x67], [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0x67, 0, 0, 1], [0, 0, 1, 0x67, 0, 0, 1, 0, 0],
        [0, 0, 1, 0, 0, 0, 0, 0, 1, 0x67, 0, 0, 0, 1],
        // Bytes that only look like the beginning of a start code.
        [0, 0, 1, 0x65, 0, 0, 3, 1, 0, 1, 0, 0, 2, 0, 0, 0, 5, 1], [0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1],
    ]

    @Test("start codes of three bytes, zeros and empty NAL units are kept", arguments: constructed)
    func kept(bytes: [UInt8]) throws {
        #expect(try RecordedForm(front: bytes) == .annexB)
        try check(bytes)
    }

    @Test("long runs of zeros are kept", arguments: [4_095, 4_096, 4_097, 4_099, 4_100, 32_768, 70_000, 300_001])
    func longRuns(count: Int) throws {
        let zeros = [UInt8](repeating: 0, count: count)
        try check([0, 0, 1, 0x67, 5] + zeros + [0, 0, 1, 0x68] + zeros, pieces: [1_000])
        try check(zeros + [0, 0, 1, 0x68], pieces: [1_000])
        // What stands behind them without a start code belongs to no NAL unit, and is kept all the same.
        let odd: [UInt8] = [0, 0, 1, 0x67] + zeros + [5, 0, 0, 7] + zeros + [0, 0, 1, 0x41]
        let reading = Reading(odd, .annexB)
        #expect(reading.stream.fault == nil)
        #expect(try relayed(reading.items) == odd)
    }

    @Test("random mixtures of zeros, ones and other bytes are kept")
    func random() throws {
        var random = SeededRandom(seed: 31)
        for _ in 0..<3_000 {
            let bytes: [UInt8] =
                [0, 0, 1]
                + (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    [0, 0, 0, 1, 1, 0x41][Int.random(in: 0..<6, using: &random)]
                }
            let reading = Reading(bytes, .annexB, piece: Int.random(in: 1...8, using: &random))
            #expect(reading.stream.fault == nil)
            #expect(try relayed(reading.items) == bytes)
            #expect(Reading(bytes, .annexB).items == reading.items)
        }
    }

    @Test("every prefix of a file is kept")
    func prefixes() throws {
        let bytes = Array(try TestStreams.small.bytes().prefix(1_500))
        for count in 4...bytes.count {
            let reading = Reading(Array(bytes[..<count]), .annexB)
            #expect(reading.stream.fault == nil)
            #expect(reading.items.flatMap { $0.annexB ?? [] } == Array(bytes[..<count]))
        }
    }

    @Test("a host takes what a replay says of its file for nothing")
    func ignoredByHosts() throws {
        var decoder = MessageDecoder()
        var assembler = FrameAssembler()
        for item in Reading(try RecordingVectors.bytes("replayed")).items {
            guard case .message(let message, _) = item.content else { continue }
            decoder.push(message.bytes)
        }
        while let message = try decoder.next() { assembler.add(message, at: .zero) }
        #expect(decoder.skippedCount == 1)
        #expect(decoder.messageCount == 5)
        #expect(assembler.faults == 0)
        let units = [assembler.next(), assembler.next(), assembler.next()]
        #expect(units.map { $0?.frame.isRandomAccess } == [true, false, nil])
    }

    @Test("a file without a start code is a fault at its front")
    func noStartCode() throws {
        for bytes: [UInt8] in [[0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 5, 1], [UInt8](repeating: 0, count: 2_000_000)] {
            let reading = Reading(bytes, .annexB, piece: 65_536)
            #expect(reading.stream.fault == .startCodeMissing(offset: 0))
            #expect(reading.items.isEmpty)
        }
    }

    @Test("a NAL unit that no message can hold is a fault, and the next one is found")
    func tooLong() throws {
        let limit = LinkLimits().unit
        let front: [UInt8] = [0, 0, 0, 1, 0x67, 1]
        let rest: [UInt8] = [0, 0, 0, 1, 0x68, 2]
        let fits = front + [0, 0, 1, 0x65] + [UInt8](repeating: 7, count: limit - 5) + rest
        #expect(Reading(fits, .annexB, piece: 65_536).items.count == 3)
        let tooLong = front + [0, 0, 1, 0x65] + [UInt8](repeating: 7, count: limit - 4) + rest
        var reading = Reading(tooLong, .annexB)
        #expect(reading.stream.fault == .unitTooLong(offset: 6, limit: limit))
        #expect(reading.items.count == 1)
        reading = Reading.all(tooLong, .annexB).0
        #expect(reading.items.map(\.offset) == [0, UInt64(tooLong.count - 6)])
    }

    @Test("which of the three a file is shows at its front")
    func forms() throws {
        #expect(try RecordedForm(front: try RecordingVectors.bytes("recording")) == .recording)
        #expect(try RecordedForm(front: [0x89]) == .recording)
        #expect(try RecordedForm(front: Array("&abc".utf8)) == .dump)
        #expect(try RecordedForm(front: [0, 0, 1]) == .annexB)
        #expect(throws: RecordingError.empty) { try RecordedForm(front: []) }
        #expect(throws: RecordingError.damagedByTextMode) {
            try RecordedForm(front: try RecordingVectors.bytes("bad-text-mode"))
        }
        for front: [UInt8] in [
            [0, 0, 0, 0x18, 0x66, 0x74, 0x79, 0x70], Array("RIFF1234".utf8), [0x1A, 0x45, 0xDF, 0xA3], [0, 1, 0, 0],
            [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10],
        ] {
            #expect(throws: RecordingError.unrecognized(front: front)) { try RecordedForm(front: front) }
        }
    }
}
