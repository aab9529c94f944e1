import MediaTypes

/// The pointer as the pictures have it.
struct DrawnPointer {
    private var area = PixelRectangle(x: 0, y: 0, width: 0, height: 0)
    // Kept, because the pointer may have got another one before the pixels come.
    private var shape = PointerShape()
    private var shapeNumber = 0

    /// Whether it is to be drawn elsewhere, or in another shape; `place` is empty where it isn't to be drawn.
    func isOutdated(_ pointer: Pointer, at place: PixelRectangle) -> Bool {
        place != area || pointer.shapeNumber != shapeNumber && !area.isEmpty
    }

    /// From now on it is drawn at `place`; adds what that changes.
    mutating func update(_ pointer: Pointer, at place: PixelRectangle, changes: inout [PixelRectangle]) {
        guard isOutdated(pointer, at: place) else { return }
        if !area.isEmpty { changes.append(area) }
        area = place
        shape = pointer.shape
        shapeNumber = pointer.shapeNumber
        if !area.isEmpty { changes.append(area) }
    }

    /// Draws it where it meets `pixels`.
    func draw(into pixels: GrabbedPixels, format: ScreenPixelFormat) {
        shape.draw(at: area, into: pixels, format: format)
    }
}
