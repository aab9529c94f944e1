public import CaptureLink
import H264
public import MediaTypes

/// Looks through a stream of messages or NAL units, and tells what is in it and what is wrong with it.
///
/// Puts pictures together as `AccessUnitAssembler` does, but keeps none of their bytes: its memory is bounded whatever
/// the stream. No thread and no clock.
public struct StreamInspector: Sendable {
    /// What was found so far.
    public private(set) var summary = StreamSummary()

    private var rows: [InspectedRow] = []
    private var pictures = PictureTracker()
    private var timeline = InspectionTimeline()

    /// Before the first byte.
    public init() {}

    /// Takes a message that begins at `offset`.
    ///
    /// - Parameters:
    ///   - arrival: when it arrived, where that was recorded; zero is when the recording began.
    ///   - isToCapture: whether it went from the host to capture.
    public mutating func add(
        _ message: ReceivedMessage, at offset: UInt64, arrival: MonotonicTime? = nil, isToCapture: Bool = false
    ) {
        let header = message.header
        var row = InspectedMessage(
            offset: offset, size: header.length,
            time: timeline.time(arrival: arrival, capture: header.captureTime, epoch: header.epoch),
            captureTime: header.captureTime, kindCode: header.kindCode, epoch: header.epoch,
            endsAccessUnit: header.flags.contains(.endOfAccessUnit), words: "")
        if timeline.ranBack(arrival) {
            pictures.fault(.timeRunsBack, at: offset, "it arrived before the message in front of it")
        }
        row.isToCapture = isToCapture
        row.words = MessageWords.words(of: message.body)
        if isToCapture {
            if row.words.isEmpty { row.words = "from the host" } else { row.words += ", from the host" }
            return finish(row)
        }
        switch message.body {
        case .nalUnit(let payload):
            pictures.add(
                payload.dropFirst(4), to: &row, isLegacy: message.form != .extended, arrival: arrival,
                stream: header.stream)
        case .picture(let notice) where header.stream == 0:
            row.damage = notice.damage
            pictures.add(notice, row)
        case .hello(let hello): summary.note(hello)
        case .end(let notice): summary.ending = notice
        default: break
        }
        finish(row)
    }

    /// Takes a message that nobody acts on: of a kind that this version doesn't know, or `sourceBytes`.
    ///
    /// - Parameter words: what it is, where its kind is known but it can't be read.
    public mutating func addUnknown(
        _ header: MessageHeader, at offset: UInt64, arrival: MonotonicTime? = nil,
        words: String? = nil
    ) {
        finish(
            InspectedMessage(
                offset: offset, size: header.length,
                time: timeline.time(arrival: arrival, capture: header.captureTime, epoch: header.epoch),
                captureTime: header.captureTime, kindCode: header.kindCode, epoch: header.epoch,
                endsAccessUnit: false, words: words ?? MessageWords.words(ofKind: header.kindCode)))
    }

    /// Takes a NAL unit of an Annex B stream, without its start code and without zeros behind it.
    ///
    /// - Parameters:
    ///   - offset: where its start code begins.
    ///   - size: all its bytes, start code and zeros included.
    public mutating func addNALUnit(_ nalUnit: ArraySlice<UInt8>, at offset: UInt64, size: UInt64) {
        var row = InspectedMessage(
            offset: offset, size: size, kindCode: MessageKind.nalUnit.rawValue, epoch: 0, endsAccessUnit: false,
            words: "")
        row.isAnnexB = true
        pictures.add(nalUnit, to: &row, isLegacy: true, arrival: nil, stream: 0)
        finish(row)
    }

    /// Takes what stands in a file beside messages and NAL units.
    public mutating func add(_ note: InspectedNote) {
        if note.code == .connection {
            pictures.connectionBegins(at: note.offset)
            timeline.connectionBegins()
        }
        if note.code == .noEnd { summary.lacksEnd = true }
        drain()
        rows.append(.note(note))
    }

    /// Bytes that can't be read begin at `offset`; `words` say what is wrong.
    public mutating func addFault(
        _ code: InspectionFault.Code = .unreadable, at offset: UInt64, _ words: String
    ) {
        pictures.fault(code, at: offset, words)
        if code.tearsPictures { pictures.tear() }
        drain()
    }

    /// The stream ends, at `offset`.
    public mutating func end(at offset: UInt64) {
        pictures.end(at: offset)
        drain()
        summary.endOffset = offset
    }

    /// What has been found since the last call.
    public mutating func takeRows() -> [InspectedRow] {
        defer { rows.removeAll(keepingCapacity: true) }
        return rows
    }

    private mutating func finish(_ row: InspectedMessage) {
        var row = row
        if row.nalUnitType == .sequenceParameterSet, let sequence = pictures.newSequence {
            row.words = sequence.shortWords
            summary.note(sequence, at: row.offset)
        }
        summary.note(row)
        // A picture that this message ended stands before it.
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

/// Times of messages, from the recording's beginning or from the first one that is known.
struct InspectionTimeline: Sendable {
    private var base: MonotonicTime?
    private var epoch: UInt64 = 0
    private var last = Interval.zero
    private var lastArrival: MonotonicTime?
    private var isBack = false

    /// The time of a message; a new epoch's capture times, which are of another clock, go on from the last.
    mutating func time(arrival: MonotonicTime?, capture: MonotonicTime?, epoch newEpoch: UInt64) -> Interval? {
        isBack = false
        if let arrival {
            if let lastArrival, arrival < lastArrival { isBack = true }
            lastArrival = arrival
        }
        // Arrival counts from the recording's beginning, as everywhere else.
        if let arrival { return arrival - MonotonicTime.zero }
        guard let own = capture else { return nil }
        if base == nil || newEpoch != epoch { base = own - last }
        epoch = newEpoch
        last = own - (base ?? own)
        return last
    }

    /// Another connection's capture times are of another clock.
    mutating func connectionBegins() { epoch = 0 }

    /// Whether the message that was just timed arrived before the one in front.
    func ranBack(_ arrival: MonotonicTime?) -> Bool { arrival != nil && isBack }
}
