import CXCB
import Clocks
public import MediaTypes

/// The pointer, separate from the pictures, for callers who draw it themselves.
extension ScreenCapture {
    /// Whether an event reported motion or a new shape, or the last look found the pointer elsewhere than before.
    public var pointerMayHaveMoved: Bool {
        pointer.motion.isMoving || pointer.isShapeOutdated || pointer.isFollowed
    }

    /// A descriptor that is readable when the server has sent something about the pointer, for `readEvents`; -1 if that
    /// arrives on `fileDescriptor`.
    public var pointerDescriptor: Int32 { pointer.fileDescriptor }

    /// The time at which `lookAtPointer` is to be called again.
    ///
    /// It is soon while the pointer moves or when `readEvents` has taken the server's answer, once a second while the
    /// pointer rests (XWarpPointer causes no event), and never while there is nothing to take pictures of.
    public var nextPointerLook: MonotonicTime { isWaiting ? .distantFuture : pointer.nextLook }

    /// Returns the pointer's state, or nil if nothing has changed since the last call. Costs a round trip, unless the
    /// pointer moves and there is a `pointerDescriptor`.
    ///
    /// If the pointer is drawn into the pictures, `mayHaveChanged` tells afterwards whether a picture is due.
    public func lookAtPointer(now: MonotonicTime) throws(X11CaptureError) -> PointerState? {
        guard let place = source.place else { return nil }
        try pointer.look(source.window, now)
        var state = PointerState(x: 0, y: 0, isVisible: false)
        if let at = pointer.place {
            (state.x, state.y) = (at.x - place.origin.x, at.y - place.origin.y)
            let isInside = state.x >= 0 && state.y >= 0 && state.x < size.width && state.y < size.height
            state.isVisible = isInside && !pointer.shape.isInvisible
        }
        if state == toldState { return nil }
        toldState = state
        return state
    }

    /// Returns the pointer's shape at the scale of pictures of size `pictures`, by default `size`; nil if it hasn't
    /// changed since the last call or isn't known. A side has at most 96 pixels.
    ///
    /// After a change of the pictures' size, call `forgetToldPointer` to get the shape again.
    ///
    /// Costs a round trip if the server has reported another shape since the last look.
    public func takePointerShape(in pictures: PictureSize? = nil) throws(X11CaptureError) -> CursorImage? {
        if pointer.isShapeOutdated { _ = try pointer.look(pointer.ask(source.window), .now()) }
        if !pointer.hasShape || pointer.shapeNumber == toldShape { return nil }
        toldShape = pointer.shapeNumber
        return pointer.shape.scaled(from: size, to: pictures ?? size).fitting()
    }

    /// Makes the next `lookAtPointer` and `takePointerShape` return the current values even if they were returned
    /// before, for a new consumer that knows nothing yet.
    public func forgetToldPointer() {
        toldState = nil
        toldShape = nil
    }
}
