import CXCB
public import CaptureEngine
import Clocks
public import MediaTypes

/// The pointer, drawn into the pictures or told to callers who draw it themselves.
extension ScreenCapture {
    /// False if the server doesn't report the pointer's shape.
    public var drawsPointer: Bool {
        get { wantsPointer && pointer.hasShape }
        set { wantsPointer = newValue }
    }

    /// The area where the pointer is to be drawn; empty if it isn't drawn.
    var pointerArea: PixelRectangle {
        guard drawsPointer, let place = tracked.place, let at = pointer.place, !pointer.shape.isInvisible else {
            return .nothing
        }
        return PixelRectangle(
            x: at.x - place.origin.x - pointer.shape.hotX, y: at.y - place.origin.y - pointer.shape.hotY,
            width: pointer.shape.width, height: pointer.shape.height)
    }

    /// Whether an event reported motion or a new shape, or the last look found the pointer elsewhere than before.
    public var pointerMayHaveMoved: Bool {
        pointer.motion.isMoving || pointer.isShapeStale || pointer.isFollowed
    }

    public var pointerDescriptor: Int32 { pointer.fileDescriptor }

    /// Soon while the pointer moves or when `readEvents` has taken the server's answer, once a second while the
    /// pointer rests (XWarpPointer causes no event), and never while there is nothing to take pictures of.
    public var nextPointerLook: MonotonicTime { isWaiting ? .distantFuture : pointer.nextLook }

    /// Costs a round trip, unless the pointer moves and there is a `pointerDescriptor`. Throws `CaptureError.screen` if
    /// the connection ends.
    public func lookAtPointer(now: MonotonicTime) throws(CaptureError) -> PointerPosition? {
        do throws(X11CaptureError) {
            guard let place = tracked.place else { return nil }
            try pointer.look(tracked.window, now)
            var position = PointerPosition(x: 0, y: 0, isVisible: false)
            if let at = pointer.place {
                (position.x, position.y) = (at.x - place.origin.x, at.y - place.origin.y)
                let isInside = position.x >= 0 && position.y >= 0 && position.x < size.width && position.y < size.height
                position.isVisible = isInside && !pointer.shape.isInvisible
            }
            if position == toldPosition { return nil }
            toldPosition = position
            return position
        } catch {
            throw .screen(error)
        }
    }

    /// Costs a round trip if the server has reported another shape since the last look. Throws `CaptureError.screen` if
    /// the connection ends.
    public func takePointerShape(in pictures: PictureSize) throws(CaptureError) -> CursorImage? {
        do throws(X11CaptureError) {
            if pointer.isShapeStale { _ = try pointer.receiveReply(pointer.sendRequest(tracked.window), .now()) }
            if !pointer.hasShape || pointer.shapeNumber == toldShape { return nil }
            toldShape = pointer.shapeNumber
            let shape = pointer.shape.scaled(from: size, to: pictures).fitting()
            return CursorImage(
                size: PictureSize(width: shape.width, height: shape.height), hotX: shape.hotX, hotY: shape.hotY,
                pixels: shape.pixels)
        } catch {
            throw .screen(error)
        }
    }

    public func forgetToldPointer() {
        toldPosition = nil
        toldShape = nil
    }
}
