public import CaptureLink
import H264
public import MediaTypes
import Opus

/// Inspects a stream of messages or NAL units: describes its contents and reports its faults.
///
/// It assembles pictures as `FrameAssembler` does but keeps none of their bytes, so its memory is bounded for any
/// stream. Uses no threads and no clock.
public struct StreamInspector: Sendable {
    /// The results so far.
    public private(set) var summary = StreamSummary()

    private var rows: [InspectedRow] = []
    private var codec = TrackFormat.Codec.h264
    private var pictures = PictureTracker()
    private var timeline = InspectionTimeline()
    /// The sound is captured by another process, which starts at other times.
    private var soundTimeline = InspectionTimeline()

    /// Creates an inspector at the beginning of a stream.
    public init() {}

    /// Takes a message that begins at `offset`.
    ///
    /// - Parameters:
    ///   - arrival: The arrival time, if it was recorded; zero is the beginning of the recording.
    ///   - isToCapture: Whether the message was sent from the host to the capture.
    public mutating func add(
        _ message: ReceivedMessage, at offset: UInt64, arrival: MonotonicTime? = nil, isToCapture: Bool = false
    ) {
        var row = makeRow(message.header, at: offset, arrival)
        if (message.header.stream == 0 ? timeline : soundTimeline).ranBack(arrival) {
            pictures.fault(.timeRunsBack, at: offset, "it arrived before the message in front of it")
        }
        row.isToCapture = isToCapture
        row.text = MessageFormatter.text(of: message.body)
        if isToCapture {
            if row.text.isEmpty { row.text = "from the host" } else { row.text += ", from the host" }
            return finish(row)
        }
        guard row.stream == 0 else { return addBesidePictures(message.body, row) }
        switch message.body {
        case .format(let newCodec) where newCodec.kind == .video: codec = newCodec
        // Units of other codecs are rows without an analysis.
        case .unit(let payload) where codec == .h264:
            pictures.add(
                payload.dropFirst(4), to: &row, isLegacy: message.form != .extended, arrival: arrival)
        case .picture(let notice):
            row.damage = notice.damage
            pictures.add(notice, row)
        case .hello(let hello): summary.note(hello)
        case .end(let notice): summary.ending = notice
        default: break
        }
        finish(row)
    }

    /// Takes a message that receivers ignore: one of a kind that this version doesn't know, or `sourceBytes`.
    ///
    /// - Parameter text: A description, if the kind is known but the message can't be read.
    public mutating func addUnknown(
        _ header: MessageHeader, at offset: UInt64, arrival: MonotonicTime? = nil,
        text: String? = nil
    ) {
        var row = makeRow(header, at: offset, arrival)
        row.endsFrame = false
        row.text = text ?? MessageFormatter.text(ofKind: header.kindCode)
        finish(row)
    }

    /// The row of a message with this header, of which nothing else is known yet.
    private mutating func makeRow(
        _ header: MessageHeader, at offset: UInt64, _ arrival: MonotonicTime?
    ) -> InspectedMessage {
        let (capture, epoch) = (header.captureTime, header.epoch)
        let time =
            header.stream == 0
            ? timeline.time(arrival: arrival, capture: capture, epoch: epoch)
            : soundTimeline.time(arrival: arrival, capture: capture, epoch: epoch)
        var row = InspectedMessage(
            offset: offset, size: header.length, time: time, captureTime: capture, kindCode: header.kindCode,
            epoch: epoch, endsFrame: header.flags.contains(.endOfFrame), text: "")
        row.stream = header.stream
        return row
    }

    /// Takes a message of the sound, or of a stream that isn't inspected.
    private mutating func addBesidePictures(_ body: LinkMessage, _ row: InspectedMessage) {
        var row = row
        if row.stream != MessageHeader.soundStream {
            row.text = "of stream \(row.stream)"
        } else if case .unit(let payload) = body {
            let packet = OpusPacket(payload.dropFirst(MessageHeader.unitMark.count))
            row.duration = packet?.duration
            row.text = packet.map { MessageFormatter.text(of: $0) } ?? "not a packet of Opus"
        } else {
            row.text += row.text.isEmpty ? "of the sound" : ", of the sound"
        }
        finish(row)
    }

    /// Takes a NAL unit of an Annex B stream, without its start code and trailing zeros.
    ///
    /// - Parameters:
    ///   - offset: The offset of its start code.
    ///   - size: The number of all its bytes, including start code and zeros.
    public mutating func addNALUnit(_ nalUnit: ArraySlice<UInt8>, at offset: UInt64, size: UInt64) {
        var row = InspectedMessage(
            offset: offset, size: size, kindCode: MessageKind.unit.rawValue, epoch: 0, endsFrame: false,
            text: "")
        row.isAnnexB = true
        pictures.add(nalUnit, to: &row, isLegacy: true, arrival: nil)
        finish(row)
    }

    /// Takes something in a file other than messages and NAL units.
    public mutating func add(_ note: InspectedNote) {
        if note.code == .connection {
            codec = .h264
            pictures.connectionBegins(at: note.offset)
            timeline.connectionBegins()
        }
        if note.code == .noEnd { summary.lacksEnd = true }
        drain()
        rows.append(.note(note))
    }

    /// Reports that bytes from `offset` on can't be read; `text` describes the fault.
    public mutating func addFault(
        _ code: InspectionFault.Code = .unreadable, at offset: UInt64, _ text: String
    ) {
        pictures.fault(code, at: offset, text)
        if code.tearsPictures { pictures.tear() }
        drain()
    }

    /// Ends the stream at `offset`.
    public mutating func end(at offset: UInt64) {
        pictures.end(at: offset)
        drain()
        summary.endOffset = offset
    }

    /// Returns the rows that were found since the last call.
    public mutating func takeRows() -> [InspectedRow] {
        defer { rows.removeAll(keepingCapacity: true) }
        return rows
    }

    private mutating func finish(_ row: InspectedMessage) {
        var row = row
        if row.nalUnitType == .sequenceParameterSet, let sequence = pictures.newSequence {
            row.text = sequence.shortText
            summary.note(sequence, at: row.offset)
        }
        summary.note(row)
        // A picture that ended before this message comes before it.
        drain(before: row)
    }

    private mutating func drain(before row: InspectedMessage? = nil) {
        for picture in pictures.takeEndedBefore() { append(picture) }
        if let row { rows.append(.message(row)) }
        for fault in pictures.takeFaults() {
            summary.note(fault)
            rows.append(.fault(fault))
        }
        for picture in pictures.takeEndedBehind() { append(picture) }
    }

    private mutating func append(_ picture: InspectedPicture) {
        summary.note(picture)
        rows.append(.picture(picture))
    }
}

/// Computes the times of messages, counted from the recording's beginning or from the first known time.
struct InspectionTimeline: Sendable {
    private var base: MonotonicTime?
    private var epoch: UInt64 = 0
    private var last = Interval.zero
    private var lastArrival: MonotonicTime?
    private var isBack = false

    /// The time of a message. A new epoch has another clock, so its capture times continue from the last time.
    mutating func time(arrival: MonotonicTime?, capture: MonotonicTime?, epoch newEpoch: UInt64) -> Interval? {
        isBack = false
        if let arrival {
            if let lastArrival, arrival < lastArrival { isBack = true }
            lastArrival = arrival
        }
        // Arrival times count from the recording's beginning, as everywhere else.
        if let arrival { return arrival - MonotonicTime.zero }
        guard let own = capture else { return nil }
        if base == nil || newEpoch != epoch { base = own - last }
        epoch = newEpoch
        last = own - (base ?? own)
        return last
    }

    /// The capture times of another connection are on another clock.
    mutating func connectionBegins() { epoch = 0 }

    /// Whether the message whose time was just computed arrived before the previous one.
    func ranBack(_ arrival: MonotonicTime?) -> Bool { arrival != nil && isBack }
}
