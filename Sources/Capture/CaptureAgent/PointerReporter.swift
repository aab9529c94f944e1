import CaptureLink
import MediaTypes
import X11Capture

/// Tells the host where the pointer is and what it looks like, while that draws it; else sees to it that pictures follow it.
///
/// At most 40 positions a second, 30 where the server times them, and the latest wins: while the host hasn't taken what was written, nothing is added.
final class PointerReporter {
    private let screen: ScreenCapture
    private var position: PointerState?
    private var image: PointerImage?
    /// How the pointer gets to viewers; drawn until the host says otherwise.
    private(set) var mode = PointerMode.drawn

    init(_ screen: ScreenCapture) {
        self.screen = screen
        screen.drawsPointer = true
    }

    /// When `look` has something to do even if the server sends nothing.
    var due: MonotonicTime { screen.nextPointerLook }

    /// Another way to viewers; true where that is a change, which the next picture has to show.
    func setMode(_ new: PointerMode) -> Bool {
        defer { tellAnew() }
        guard new != mode else { return false }
        mode = new
        screen.drawsPointer = new == .drawn
        return true
    }

    /// A host that knows nothing yet is told all.
    func tellAnew() {
        position = nil
        image = nil
        screen.forgetToldPointer()
    }

    /// Looks where the pointer is, if that is due.
    func look(_ now: MonotonicTime) throws(X11CaptureError) {
        guard now >= due else { return }
        let state = try screen.lookAtPointer(now: now)
        guard mode == .apart else { return }
        if let state { position = state }
        guard let shape = try screen.takePointerShape() else { return }
        let size = PictureSize(width: shape.width, height: shape.height)
        image = PointerImage(size: size, hotX: shape.hotX, hotY: shape.hotY, pixels: shape.pixels)
    }

    /// Hands what is new to `send`, in the coordinates of pictures of `size`.
    func tell(_ size: PictureSize, _ send: (LinkMessage) -> Void) {
        guard mode == .apart else { return }
        if let image { send(.pointerShape(image)) }
        image = nil
        guard let position else { return }
        self.position = nil
        let (width, height) = (max(1, screen.size.width), max(1, screen.size.height))
        send(
            .pointerPosition(
                PointerPosition(
                    x: position.x * size.width / width, y: position.y * size.height / height,
                    isVisible: position.isVisible)))
    }

    /// Whether `tell` has something to say.
    var hasNews: Bool { mode == .apart && (position != nil || image != nil) }
}
