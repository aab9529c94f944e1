import CaptureLink
import MediaTypes

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
