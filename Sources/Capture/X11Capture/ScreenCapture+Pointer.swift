import CXCB
public import MediaTypes

/// The pointer apart from the pictures: for those who draw it themselves.
extension ScreenCapture {
    /// Whether an event says so, or the last look found it elsewhere than before.
    public var pointerMayHaveMoved: Bool {
        pointer.motion.isMoving || pointer.isShapeOutdated || pointer.isFollowed
    }

    /// Readable when the server has sent something about the pointer, for `readEvents`; -1 where that comes by `fileDescriptor`.
    public var pointerDescriptor: Int32 { pointer.fileDescriptor }

    /// When `lookAtPointer` is to be called again: soon while it moves, or when `readEvents` has taken the server's answer; once a second while it rests (XWarpPointer makes no event), never while there is nothing to take pictures of.
    public var nextPointerLook: MonotonicTime { isWaiting ? .distantFuture : pointer.nextLook }

    /// Where the pointer is; nil where nothing has changed since the last call. Costs a round trip, unless the pointer moves and
    /// there is a `pointerDescriptor`.
    ///
    /// While the pointer is drawn into the pictures, `mayHaveChanged` says afterwards whether one is due.
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

    /// What the pointer looks like in pictures of `pictures`, by default of `size`; nil where that is as at the last call, or isn't
    /// known. At most 96 pixels a side.
    ///
    /// Where the size of the pictures has changed, `forgetToldPointer` has it given again.
    ///
    /// Costs a round trip where the server told of another shape since the last look.
    public func takePointerShape(in pictures: PictureSize? = nil) throws(X11CaptureError) -> PointerShape? {
        if pointer.isShapeOutdated { _ = try pointer.look(pointer.ask(source.window), .now()) }
        if !pointer.hasShape || pointer.shapeNumber == toldShape { return nil }
        toldShape = pointer.shapeNumber
        return pointer.shape.scaled(from: size, to: pictures ?? size).fitting()
    }

    /// The next `lookAtPointer` and `takePointerShape` give what there is, whether or not it was given before: for someone
    /// new who knows nothing of it.
    public func forgetToldPointer() {
        toldState = nil
        toldShape = nil
    }
}
