import ByteCoding
import CaptureLink
import H264
import MediaTypes
import Recording
import X264Encoding

/// A small stream of our own capture's kind, and files made of it.
struct MadeStream {
    /// A message of the link and when it arrived.
    struct Message {
        var bytes: [UInt8]
        var arrival: MonotonicTime
    }

    static let epoch: UInt64 = 0xABCD
    static let start = MonotonicTime(nanoseconds: 5_000_000_000)
    /// Capture's clock is not the recorder's.
    static let captureStart = MonotonicTime(nanoseconds: 77_000_000_000)

    private(set) var units: [CodedFrame] = []
    var messages: [Message] = []

    /// Pictures taken at these times, in milliseconds; those in `idrs` are IDR pictures, the first one always is.
    init(
        times: [Int64] = [0, 33, 66, 500, 533, 1500], idrs: Set<Int> = [4],
        size: PictureSize = PictureSize(width: 64, height: 48)
    ) throws {
        messages.append(
            message(
                .hello(Hello(role: .capture, name: "test", processID: 7, makesKeyFrames: true)), at: Self.start))
        try append(times: times, idrs: idrs, size: size)
    }

    /// More pictures, perhaps of another size.
    mutating func append(times: [Int64], idrs: Set<Int> = [], size: PictureSize) throws {
        let encoder = try X264Encoder(
            X264Configuration(
                size: size, framesPerSecond: 30,
                rate: .ceiling(BitRate(bitsPerSecond: 4_000_000))))
        for (index, time) in times.enumerated() {
            let samples = size.width * size.height
            // A little noise, so that a picture takes some hundred bytes.
            let luma = (0..<samples).map { UInt8(100 + ($0 &* 40_503 &* (index + 3)) >> 9 % 24) }
            let picture = I420Picture(
                size: size, bytes: luma + [UInt8](repeating: 128, count: samples / 2), isFullRange: false,
                matrix: .bt601,
                captureTime: Self.captureStart + .milliseconds(time))
            let unit = try encoder.accessUnit(
                of: picture, forceIDR: index == 0 || idrs.contains(index),
                time: MediaTime(ticks: Int64(units.count + 1) * 3000))
            append(unit, arrival: Self.start + .milliseconds(time + 5), size: size)
        }
    }

    private mutating func append(_ unit: CodedFrame, arrival: MonotonicTime, size: PictureSize) {
        let notice = PictureNotice(
            sequenceNumber: UInt64(units.count),
            damage: PixelRectangle(x: 0, y: 0, width: size.width, height: size.height / 2),
            qp: 22)
        messages.append(message(.picture(notice), at: arrival))
        let encoder = MessageEncoder(epoch: Self.epoch)
        for outgoing in (try? encoder.headers(for: unit)) ?? [] {
            messages.append(Message(bytes: outgoing.header + unit.bytes[outgoing.payload], arrival: arrival))
        }
        units.append(unit)
    }

    /// Puts a packet of sound behind each message, 10 ms each.
    mutating func addSound() throws {
        let encoder = MessageEncoder(epoch: 0x5555, stream: MessageHeader.soundStream)
        let start = Self.captureStart + .seconds(9)
        messages = try messages.enumerated().flatMap { index, message -> [Message] in
            let packet = [0, 0, 0, 1, 0xF4, UInt8(truncatingIfNeeded: index)]
            let header = try encoder.unitHeader(
                payloadCount: packet.count, captureTime: start + .milliseconds(Int64(index) * 10), endsFrame: true)
            return [message, Message(bytes: header + packet, arrival: message.arrival)]
        }
    }

    func message(_ message: LinkMessage, at arrival: MonotonicTime) -> Message {
        Message(bytes: MessageEncoder(epoch: Self.epoch).encode(message), arrival: arrival)
    }

    /// The places of records that are whole, and the file.
    func recording(hasEnd: Bool = true) -> (bytes: [UInt8], ends: [Int]) {
        let recorder = RecordingWriter(header: RecordingHeader(start: Self.start, wallClock: 1_700_000_000_000_000_000))
        var writer = ByteWriter()
        writer.append(recorder.header.bytes)
        var ends: [Int] = []
        recorder.appendConnection(at: Self.start, to: &writer)
        ends.append(writer.count)
        for message in messages {
            recorder.appendHeader(of: message.bytes[...], form: .extended, at: message.arrival, to: &writer)
            writer.append(message.bytes)
            ends.append(writer.count)
        }
        if hasEnd { recorder.appendEnd(at: messages.last?.arrival ?? Self.start, to: &writer) }
        return (writer.bytes, ends)
    }

    /// The messages alone.
    var dump: [UInt8] { messages.flatMap(\.bytes) }

    /// As a sender of the original kind would write them.
    func legacyDump(_ form: HeaderFormat) throws -> [UInt8] {
        let encoder = MessageEncoder(form: form, epoch: 0)
        return try units.flatMap { unit in
            try encoder.headers(for: unit).flatMap { $0.header + unit.bytes[$0.payload] }
        }
    }

    /// The pictures alone.
    var annexB: [UInt8] { units.flatMap(\.bytes) }
}

/// Reads a file that lies in memory, in pieces, and hands on what its reader gives, behind damage too.
func read(
    _ bytes: [UInt8], piece: Int = 4096, item: (RecordedItem) -> Void, fault: (RecordingError) -> Void
) -> RecordedStream? {
    guard let form = try? RecordedForm(front: bytes) else { return nil }
    var stream = RecordedStream(form: form)
    var offset = 0
    var isFinished = false
    while true {
        while let next = stream.next() { item(next) }
        if let found = stream.fault {
            fault(found)
            stream.resumeAfterDamage()
        } else if offset < bytes.count {
            let end = min(bytes.count, offset + piece)
            stream.push(bytes[offset..<end])
            offset = end
        } else if !isFinished {
            isFinished = true
            stream.finish()
        } else {
            return stream
        }
    }
}
