import CaptureEngine
import MediaTypes

/// The pointer as buffers report it.
struct CastPointer {
    private(set) var shape = PointerShape()
    /// Counts the changes of the shape; 0 while it isn't known.
    private(set) var shapeNumber = 0
    /// The pixel that points, in pixels of the whole upright picture; nil while that isn't known.
    private(set) var place: (x: Int, y: Int)?
    /// Whether the pointer can be seen, if it lies inside the visible part.
    private(set) var isVisible = false
    /// Whether buffers report the pointer, even if only that it is hidden.
    private(set) var isReported = false
    /// Whether anything has changed since this was set to false.
    var hasNews = false
    private var isHidden = true
    private var hasPixels = false

    /// Takes what the next buffer reports.
    mutating func update(_ report: CursorReport) {
        isReported = true
        let before = (place: place, shapeNumber: shapeNumber, isVisible: isVisible)
        switch report {
        case .hidden: isHidden = true
        case .at(let x, let y, let shape):
            isHidden = false
            place = (x, y)
            if let shape, shape != self.shape || shapeNumber == 0 {
                self.shape = shape
                shapeNumber += 1
                hasPixels = !shape.isInvisible
            }
        }
        isVisible = !isHidden && hasPixels
        let isSame =
            before.place?.x == place?.x && before.place?.y == place?.y && before.shapeNumber == shapeNumber
            && before.isVisible == isVisible
        if !isSame { hasNews = true }
    }

    /// The area that the pointer covers, in pixels of the part of the picture that is `visible`; empty if it can't be
    /// seen.
    func area(in visible: PixelRectangle) -> PixelRectangle {
        guard isVisible, let place else { return .nothing }
        return PixelRectangle(
            x: place.x - visible.x - shape.hotX, y: place.y - visible.y - shape.hotY, width: shape.width,
            height: shape.height)
    }
}
