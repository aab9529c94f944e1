public import CaptureLink
public import MediaTypes

/// What a track's source says of the pointer, and what the track's pictures show of it.
public enum PointerReport: Sendable, Hashable {
    /// A source was attached, or has said what it can do: whether it can leave the pointer out of its pictures.
    case ability(tellsPointer: Bool)
    /// What the pointer looks like from here on.
    case shape(PointerImage)
    /// Where it is, in pixels of a picture of that size; nil where the source has told no size.
    case position(PointerPosition, of: PictureSize?)
    /// The source went away or began anew: what it said of the pointer no longer holds.
    case lost
    /// From the picture published just now on, the pointer is drawn in the track's pictures, or isn't.
    case pictures(areDrawn: Bool)
}

/// The pointer's side of one connection of the link: takes its messages, and knows when they no longer hold.
struct LinkPointer {
    private var epoch: UInt64?
    private var size: PictureSize?
    private var hasTold = false

    /// What `message` of the track's source means for the pointer, in order.
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
