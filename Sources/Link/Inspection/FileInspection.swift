import ByteCoding
import CaptureLink
import MediaTypes
public import Recording

/// Inspects a recording, a raw dump or an Annex B file by passing what its reader returns to ``StreamInspector``.
///
/// The owner reads the file. It passes every item to `add`, every fault to `add` before the reader continues after it,
/// and calls `end` at the end of the file.
public struct FileInspection: Sendable {
    private var inspector = StreamInspector()
    /// A fault that is held back until it is known where reading can continue.
    private var pendingFault: RecordingError?
    /// Whether some bytes could not be read.
    public private(set) var isDamaged = false

    /// Creates an inspection that hasn't received any item.
    public init() {}

    /// The results so far.
    public var summary: StreamSummary { inspector.summary }

    /// Returns the rows that were found since the last call.
    public mutating func takeRows() -> [InspectedRow] { inspector.takeRows() }

    /// Takes the next item.
    public mutating func add(_ item: RecordedItem) {
        tellFault(until: item.offset)
        let arrival = item.arrival.map { MonotonicTime.zero + $0 }
        switch item.content {
        case .message(let message, let direction):
            add(message, direction, at: item.offset, arrival: arrival)
        case .nalUnit(let unit):
            inspector.addNALUnit(unit.payload.dropFirst(4), at: item.offset, size: item.byteCount)
        case .otherBytes: note(.otherBytes, item)
        case .connection: note(.connection, item)
        case .end: note(.end, item)
        case .gap(let gap):
            inspector.addFault(
                .recordingGap, at: item.offset,
                "\(gap.messages) messages (\(gap.bytes) bytes) from \(DecimalText.seconds(gap.from)) s to "
                    + "\(DecimalText.seconds(gap.to)) s were not recorded: the recorder could not keep up")
        }
    }

    /// Takes the reason why the reader stopped.
    public mutating func add(_ fault: RecordingError) {
        // A fault found within damage is part of it, so there is only one fault until the next item.
        if pendingFault == nil { pendingFault = fault }
        isDamaged = true
    }

    /// Ends the inspection at `offset`. `hasEnd` says whether a recording has an end record; it is nil for other files.
    public mutating func end(at offset: UInt64, hasEnd: Bool?) {
        let isCut = pendingFault?.isCut ?? false
        tellFault(until: offset)
        if hasEnd == false, !isCut {
            inspector.add(InspectedNote(code: .noEnd, offset: offset, size: 0, time: nil))
        }
        inspector.end(at: offset)
    }

    private mutating func add(
        _ message: LinkBytes, _ direction: LinkDirection, at offset: UInt64, arrival: MonotonicTime?
    ) {
        do {
            if let received = try message.received() {
                inspector.add(received, at: offset, arrival: arrival, isToCapture: direction == .toCapture)
            } else {
                inspector.addUnknown(message.header, at: offset, arrival: arrival)
            }
        } catch {
            inspector.addUnknown(message.header, at: offset, arrival: arrival, text: "can't be read")
            var problem = "\(error)"
            if case .malformed(_, let text, _) = error { problem = "the message can't be read: \(text)" }
            inspector.addFault(.malformedMessage, at: offset, problem)
        }
    }

    private mutating func note(_ code: InspectedNote.Code, _ item: RecordedItem) {
        inspector.add(InspectedNote(code: code, offset: item.offset, size: item.byteCount, time: item.arrival))
    }

    private mutating func tellFault(until offset: UInt64) {
        guard let fault = pendingFault else { return }
        pendingFault = nil
        var text = fault.description
        if offset > fault.offset { text += "; \(DecimalText.grouped(offset - fault.offset)) bytes are left out" }
        inspector.addFault(fault.isCut ? .cutFile : .unreadable, at: fault.offset, text)
    }
}
