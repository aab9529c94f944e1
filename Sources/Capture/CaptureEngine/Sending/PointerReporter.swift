import CaptureLink
import MediaTypes

/// Reports the pointer's position and shape to the host if viewers draw it; otherwise makes the pictures follow it.
///
/// It sends at most 40 positions per second, or 30 if the server times them, and the latest wins: while the host hasn't
/// taken what was written, nothing is added.
final class PointerReporter {
    private let screen: any ScreenSource
    private var position: PointerPosition?
    private var image: CursorImage?
    // Whether a report is awaited, even if the pointer rests.
    private var isOwed = false
    /// How the pointer reaches viewers; drawn until the host says otherwise.
    private(set) var mode = PointerMode.drawn

    init(_ screen: any ScreenSource) {
        self.screen = screen
        screen.drawsPointer = true
    }

    /// The time at which `look` has something to do even if the server sends nothing.
    var due: MonotonicTime { isOwed ? .zero : screen.nextPointerLook }

    /// Sets how the pointer reaches viewers; returns true if that is a change, which the next picture has to show.
    func setMode(_ new: PointerMode) -> Bool {
        let isChange = new != mode
        mode = new
        screen.drawsPointer = new == .drawn
        tellAnew()
        return isChange
    }

    /// Reports everything again: to a host that knows nothing yet, or when the size of the pictures has changed.
    func tellAnew() {
        isOwed = mode == .apart
        position = nil
        image = nil
        screen.forgetToldPointer()
    }

    /// Looks up the pointer's position, and its shape in pictures that show the screen in `content`, if that is due.
    func look(_ now: MonotonicTime, _ content: PixelRectangle) throws(CaptureError) {
        guard now >= due else { return }
        isOwed = false
        let new = try screen.lookAtPointer(now: now)
        guard mode == .apart else { return }
        position = new ?? position
        image = try screen.takePointerShape(in: content.size) ?? image
    }

    /// Passes what is new to `send`, in the coordinates of pictures that show the screen in `content`.
    func tell(_ content: PixelRectangle, _ send: (LinkMessage) -> Void) {
        guard mode == .apart else { return }
        if let image { send(.pointerShape(image)) }
        image = nil
        guard let position else { return }
        self.position = nil
        let (width, height) = (max(1, screen.size.width), max(1, screen.size.height))
        send(
            .pointerPosition(
                PointerPosition(
                    x: content.x + position.x * content.width / width,
                    y: content.y + position.y * content.height / height,
                    isVisible: position.isVisible)))
    }

    /// Whether `tell` has something to send.
    var hasNews: Bool { mode == .apart && (position != nil || image != nil) }
}
