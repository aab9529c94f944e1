public import CaptureLink
public import MediaTypes

/// A report about the pointer: what the track's source says of it, and whether the track's pictures show it.
public enum PointerReport: Sendable, Hashable {
    /// A source was attached or has said what it can do: whether it can leave the pointer out of its pictures.
    case ability(tellsPointer: Bool)
    /// What the pointer looks like from here on.
    case shape(PointerImage)
    /// Where the pointer is, in pixels of a picture of that size; the size is nil if the source has not reported one.
    case position(PointerPosition, of: PictureSize?)
    /// The source went away or started again, so what it reported about the pointer no longer holds.
    case lost
    /// Whether the pointer is drawn in the track's pictures, beginning with the one that was just published.
    case pictures(areDrawn: Bool)
}

/// The pointer's state on one connection of the link: takes its messages, and notices when they no longer hold.
struct LinkPointer {
    private var epoch: UInt64?
    private var size: PictureSize?
    private var hasTold = false

    /// Returns the reports that follow from `message` of the track's source, in order.
    mutating func take(_ message: ReceivedMessage) -> [PointerReport] {
        // Only the first stream has a pointer; a legacy sender has none.
        guard message.form == .extended, message.header.stream == 0 else { return [] }
        var reports: [PointerReport] = []
        if let epoch, epoch != message.header.epoch {
            if hasTold { reports.append(.lost) }
            hasTold = false
            size = nil
        }
        epoch = message.header.epoch
        switch message.body {
        case .size(let size):
            self.size = size
        case .pointerShape(let image):
            hasTold = true
            reports.append(.shape(image))
        case .pointerPosition(let position):
            hasTold = true
            reports.append(.position(position, of: size))
        default:
            break
        }
        return reports
    }
}
