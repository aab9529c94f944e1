import ByteCoding
import CaptureLink
import MediaTypes
import Recording
import TestSupport

/// The examples in Protocol/vectors/recording, written by another program, with zlib's CRC-32.
enum RecordingVectors {
    /// Those that are whole.
    static let whole = ["recording", "gap", "legacy", "replayed", "longer-header", "unknown-kind", "longer-gap"]
    /// Those that have a fault: the fault, how many items stand before it, and where the next whole one begins behind
    /// it.
    static let faulty: [(name: String, fault: RecordingError, before: Int, next: UInt64?)] = [
        ("cut-header", .cutInFileHeader(count: 20), 0, nil),
        ("cut-record-header", .cutInRecordHeader(offset: 72, missing: 13), 1, nil),
        ("cut-record", .cutInRecord(offset: 72, missing: 1), 1, nil),
        ("bad-version", .unknownVersion(2), 0, 48),
        ("bad-header-check", .fileHeaderCheck, 0, 48),
        ("bad-header-length", .fileHeaderCheck, 0, 48),
        ("bad-marker", .recordMarkerMissing(offset: 72), 1, 77),
        ("bad-record-header", .recordHeaderCheck(offset: 72), 1, 152),
        ("bad-content", .recordCheck(offset: 72), 1, 152),
        ("bad-length", .recordTooLong(offset: 72, length: (8 << 20) + 41, limit: (8 << 20) + 40), 1, 96),
        ("bad-other-length", .recordTooLong(offset: 72, length: (64 << 10) + 1, limit: 64 << 10), 1, 96),
        (
            "bad-message",
            .malformedRecord(offset: 72, problem: "its message has no header, or another length"), 1, 153
        ),
        (
            "bad-form", .malformedRecord(offset: 72, problem: "it has no form that a link's header can have"), 1, 152
        ),
        ("bad-gap", .malformedRecord(offset: 72, problem: "a gap needs 32 bytes, not 31"), 1, 127),
    ]
    /// Two that are in neither list: one is not opened, the other is whole and has no end.
    static let others = ["bad-text-mode", "no-end"]
    static let all = whole + faulty.map(\.name) + others

    /// The bytes of the vector `name`.
    static func bytes(_ name: String) throws -> [UInt8] {
        let file = try fileBytes(packageRoot + "/Protocol/vectors/recording/" + name + ".hex")
        let lines = String(decoding: file, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        let digits = lines.joined().compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// All that a file of these bytes gives before its first fault, read in pieces of `piece` bytes.
struct Reading {
    var items: [RecordedItem] = []
    var stream: RecordedStream

    init(_ bytes: [UInt8], _ form: RecordedForm = .recording, piece: Int = .max) {
        stream = RecordedStream(form: form)
        var rest = bytes[...]
        while !rest.isEmpty, stream.fault == nil {
            stream.push(rest.prefix(piece))
            rest = rest.dropFirst(min(piece, rest.count))
            if !rest.isEmpty { take() }
        }
        stream.finish()
        take()
    }

    /// The same, but going on behind each fault; all faults.
    static func all(_ bytes: [UInt8], _ form: RecordedForm = .recording) -> (Reading, faults: [RecordingError]) {
        var reading = Reading(bytes, form)
        var faults: [RecordingError] = []
        while let fault = reading.stream.fault {
            faults.append(fault)
            reading.stream.resumeAfterDamage()
            reading.take()
        }
        return (reading, faults)
    }

    private mutating func take() {
        while let item = stream.next() { items.append(item) }
    }
}

/// A recording of `count` messages: pictures of up to `largest` bytes, with a connection at the front and an end.
func sampleRecording(messages count: Int, largest: Int, seed: UInt64) throws -> (bytes: [UInt8], ends: [Int]) {
    var random = SeededRandom(seed: seed)
    let header = RecordingHeader(start: MonotonicTime(nanoseconds: 5_000), wallClock: 1_790_000_000_000_000_000)
    let recorder = RecordingWriter(header: header)
    let encoder = MessageEncoder(epoch: 77)
    var writer = ByteWriter()
    writer.append(header.bytes)
    var ends = [writer.bytes.count]
    var time = header.start
    recorder.appendConnection(at: time, to: &writer)
    ends.append(writer.bytes.count)
    for index in 0..<count {
        time = time + .milliseconds(Int64.random(in: 1...40, using: &random))
        let payload = Int.random(in: 5...max(5, largest), using: &random)
        let bytes: [UInt8] = [0, 0, 0, 1, 0x41] + (5..<payload).map { _ in .random(in: 0...255, using: &random) }
        let message =
            try encoder.unitHeader(payloadCount: bytes.count, captureTime: time, endsFrame: index % 2 == 0)
            + bytes
        recorder.appendHeader(of: message[...], form: .extended, at: time, to: &writer)
        writer.append(message)
        ends.append(writer.bytes.count)
    }
    recorder.appendEnd(at: time, to: &writer)
    ends.append(writer.bytes.count)
    return (writer.bytes, ends)
}
