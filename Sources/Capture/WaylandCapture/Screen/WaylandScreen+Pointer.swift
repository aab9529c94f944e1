import CaptureEngine
public import MediaTypes

/// The pointer as buffers report it. If the pictures show it already, there is nothing to report.
extension WaylandScreen {
    /// The shortest interval between two looks: a compositor may report the pointer with each of its frames.
    private static let lookPeriod = Interval.milliseconds(25)

    /// The area where the pointer is to be drawn; empty if it isn't drawn.
    var pointerArea: PixelRectangle { drawsPointer ? stream.pointer.area(in: stream.visible) : .nothing }

    /// Soon after a buffer has reported something new.
    public var nextPointerLook: MonotonicTime {
        stream.pointer.hasNews ? lastPointerLook + Self.lookPeriod : .distantFuture
    }

    /// Costs nothing, because buffers report the pointer.
    public func lookAtPointer(now: MonotonicTime) -> PointerPosition? {
        lastPointerLook = now
        stream.pointer.hasNews = false
        guard let place = stream.pointer.place else { return nil }
        var position = PointerPosition(x: place.x - stream.visible.x, y: place.y - stream.visible.y, isVisible: false)
        let isInside = position.x >= 0 && position.y >= 0 && position.x < size.width && position.y < size.height
        position.isVisible = isInside && stream.pointer.isVisible
        if position == toldPosition { return nil }
        toldPosition = position
        return position
    }

    public func takePointerShape(in pictures: PictureSize) -> CursorImage? {
        let number = stream.pointer.shapeNumber
        if number == 0 || number == toldShape { return nil }
        toldShape = number
        let shape = stream.pointer.shape.scaled(from: size, to: pictures).fitting()
        return CursorImage(
            size: PictureSize(width: shape.width, height: shape.height), hotX: shape.hotX, hotY: shape.hotY,
            pixels: shape.pixels)
    }

    public func forgetToldPointer() {
        toldPosition = nil
        toldShape = nil
    }
}
