import CaptureLink
import H264
import MediaTypes
import Recording
import Replaying

/// What a short recording of a capture holds, made by our own encoder of messages.
struct SampleRecording {
    private(set) var items: [RecordedItem] = []
    private var offset: UInt64 = 0
    let encoder: MessageEncoder

    init(epoch: UInt64 = 0xA1B2_C3D4_E5F6_0718) {
        encoder = MessageEncoder(epoch: epoch)
    }

    mutating func add(_ content: RecordedItem.Content, at time: Interval?) {
        items.append(RecordedItem(offset: offset, byteCount: 64, arrival: time, content: content))
        offset += 64
    }

    mutating func add(_ message: LinkMessage, at time: Interval?) {
        add(encoder.encode(message), .extended, at: time)
    }

    mutating func add(_ bytes: [UInt8], _ form: HeaderFormat, at time: Interval?) {
        guard let link = LinkBytes(bytes, form: form) else { return }
        add(.message(link, .toHost), at: time)
    }

    /// One picture of one slice, behind a notice and, where it is an IDR picture, behind SPS and PPS.
    mutating func addPicture(_ number: UInt64, isIDR: Bool, at time: Interval?, capture: Int64) throws {
        add(
            .picture(PictureNotice(sequenceNumber: number, damage: PixelRectangle(x: 0, y: 0, width: 16, height: 16))),
            at: time)
        let units: [[UInt8]] =
            isIDR ? [[0x67, 1, 2], [0x68, 3], [0x65, 0x88, UInt8(number)]] : [[0x41, 0x9A, UInt8(number)]]
        for (index, unit) in units.enumerated() {
            let payload = AnnexB.startCode + unit
            let header = try encoder.unitHeader(
                payloadCount: payload.count, captureTime: MonotonicTime(nanoseconds: capture),
                endsFrame: index == units.count - 1)
            add(header + payload, .extended, at: time)
        }
    }

    /// A packet of sound whose first byte would be an IDR picture's in H.264.
    mutating func addPacket(_ number: Int, epoch: UInt64, at time: Interval?, capture: Int64) throws {
        let payload = AnnexB.startCode + [0x65, 0x88, UInt8(truncatingIfNeeded: number)]
        let header = try MessageEncoder(epoch: epoch, stream: MessageHeader.soundStream).unitHeader(
            payloadCount: payload.count, captureTime: MonotonicTime(nanoseconds: capture), endsFrame: true)
        add(header + payload, .extended, at: time)
    }

    /// A message of the sound.
    mutating func addOfSound(_ message: LinkMessage, epoch: UInt64, at time: Interval?) {
        add(MessageEncoder(epoch: epoch, stream: MessageHeader.soundStream).encode(message), .extended, at: time)
    }

    /// Everything that a script makes of the items in one pass.
    static func play(_ items: [RecordedItem], _ script: inout ReplayScript, pass: UInt64 = 77) -> [ReplayStep] {
        script.beginPass(pass)
        var steps: [ReplayStep] = []
        for item in items {
            script.take(item)
            while let step = script.next() { steps.append(step) }
        }
        script.endPass()
        while let step = script.next() { steps.append(step) }
        return steps
    }
}

/// The bytes of a message of the extended form.
extension RecordedItem {
    var messageBytes: [UInt8]? {
        if case .message(let link, _) = content { link.bytes } else { nil }
    }
}

extension ReplayStep {
    /// Its header.
    var header: MessageHeader? { MessageHeader(decoding: bytes[...], form: .extended) }
    /// What follows the header.
    var payload: [UInt8] { Array(bytes.dropFirst(40)) }
    /// Its kind.
    var kind: MessageKind? { header?.kind }
}
