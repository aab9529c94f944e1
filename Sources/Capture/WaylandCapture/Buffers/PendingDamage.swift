import CaptureEngine
import MediaTypes

/// What may have changed since the last comparison, as the senders of buffers tell it. It only narrows the comparison.
struct PendingDamage {
    private var parts: [PixelRectangle] = []
    /// Whether it is all of the picture.
    private(set) var isWhole = false
    private var visible: PixelRectangle?
    private var transform = PictureTransform.none

    /// More rectangles than this are kept as all of the picture.
    private static let maxParts = 64

    /// Adds the damage of a picture of which `visible` can be seen. It is anything if `told` is empty, or if that is
    /// another part than before, or transformed in another way. All of it is in pixels of the upright picture.
    mutating func add(_ told: [PixelRectangle], visible: PixelRectangle, transform: PictureTransform = .none) {
        let isAll = told.isEmpty || told.contains { $0.intersection(visible) == visible }
        let isOther = visible != self.visible || transform != self.transform
        isWhole = isWhole || isAll || isOther || parts.count + told.count > Self.maxParts
        self.visible = visible
        self.transform = transform
        if isWhole { parts.removeAll(keepingCapacity: true) } else { parts += told }
    }

    /// Adds all of the picture.
    mutating func addAll() { isWhole = true }

    /// Returns the parts of the visible picture to compare, which lie inside it, and begins again.
    mutating func take() -> [PixelRectangle] {
        guard let visible else { return [] }
        defer {
            parts.removeAll(keepingCapacity: true)
            isWhole = false
        }
        let whole = visible.size.whole
        if isWhole { return [whole] }
        return DamagedArea(parts.map { $0.moved(x: -visible.x, y: -visible.y) }, in: visible.size).rectangles
    }
}
