package import ColorConversion
package import MediaTypes

/// The pointer as it is drawn in the pictures.
package struct DrawnPointer {
    /// Where it is drawn; empty if it isn't drawn.
    package private(set) var area = PixelRectangle.nothing
    // A copy, because the pointer may have changed its shape before the pixels arrive.
    private var shape = PointerShape()
    private var shapeNumber = 0

    /// Creates a pointer that isn't drawn anywhere.
    package init() {}

    /// Whether it has to be drawn elsewhere or in another shape, which has another number; `place` is empty if it isn't
    /// to be drawn.
    package func isStale(_ number: Int, at place: PixelRectangle) -> Bool {
        place != area || number != shapeNumber && !area.isEmpty
    }

    /// Draws `shape` at `place` from now on, and adds the areas that this changes to `changes`.
    package mutating func update(
        _ shape: PointerShape, _ number: Int, at place: PixelRectangle, changes: inout [PixelRectangle]
    ) {
        guard isStale(number, at: place) else { return }
        if !area.isEmpty { changes.append(area) }
        area = place
        self.shape = shape
        shapeNumber = number
        if !area.isEmpty { changes.append(area) }
    }

    /// Draws the part of it that lies in `pixels`.
    package func draw(into pixels: GrabbedPixels, format: ScreenToPlanes.PixelFormat) {
        shape.draw(at: area, into: pixels, format: format)
    }
}
