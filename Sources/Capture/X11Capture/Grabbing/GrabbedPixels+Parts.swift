import CaptureEngine
import ColorConversion
import Glibc
import MediaTypes

extension GrabbedPixels {
    /// The pixels of a part of the rectangle, which must lie within it.
    func part(_ part: PixelRectangle, _ layout: PixelLayout) -> GrabbedPixels {
        let offset = (part.y - rectangle.y) * stride + (part.x - rectangle.x) * layout.format.bytesPerPixel
        return GrabbedPixels(rectangle: part, base: base + offset, stride: stride)
    }

    /// Moves the rows of `available` to their places, and blackens the rest. At first they are packed at the base,
    /// without room for the columns beside them.
    func spread(_ available: PixelRectangle, _ layout: PixelLayout) {
        let narrow = layout.stride(width: available.width)
        let left = (available.x - rectangle.x) * layout.format.bytesPerPixel
        let count = available.width * layout.format.bytesPerPixel
        // Start with the last row, so that no row overwrites one that hasn't been moved yet.
        for row in (0..<rectangle.height).reversed() {
            let target = base + row * stride
            let source = row + rectangle.y - available.y
            if available.isEmpty || source < 0 || source >= available.height {
                memset(target, 0, stride)
                continue
            }
            memmove(target + left, base + source * narrow, count)
            memset(target, 0, left)
            memset(target + left + count, 0, max(0, stride - left - count))
        }
    }
}
