import CaptureEngine
import ColorConversion
import MediaTypes

/// The pointer as it is drawn in the pictures.
struct DrawnPointer {
    private var area = PixelRectangle.nothing
    // A copy, because the pointer may have changed its shape before the pixels arrive.
    private var shape = X11Cursor()
    private var shapeNumber = 0

    /// Whether it has to be drawn elsewhere or in another shape; `place` is empty if it isn't to be drawn.
    func isStale(_ pointer: Pointer, at place: PixelRectangle) -> Bool {
        place != area || pointer.shapeNumber != shapeNumber && !area.isEmpty
    }

    /// Draws it at `place` from now on, and adds the areas that this changes to `changes`.
    mutating func update(_ pointer: Pointer, at place: PixelRectangle, changes: inout [PixelRectangle]) {
        guard isStale(pointer, at: place) else { return }
        if !area.isEmpty { changes.append(area) }
        area = place
        shape = pointer.shape
        shapeNumber = pointer.shapeNumber
        if !area.isEmpty { changes.append(area) }
    }

    /// Draws the part of it that lies in `pixels`.
    func draw(into pixels: GrabbedPixels, format: ScreenToPlanes.PixelFormat) {
        shape.draw(at: area, into: pixels, format: format)
    }
}
