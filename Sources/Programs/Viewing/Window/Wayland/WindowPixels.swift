import ColorConversion
import Glibc
import MediaTypes

/// The pixels of all of a window: blue in the first byte, then green, red, and one without a meaning.
struct WindowPixels {
    let base: UnsafeMutableRawPointer
    private let size: PictureSize
    /// The size of the picture in them; nil if around it they aren't black.
    private var drawn: PictureSize?

    private var stride: Int { size.width * 4 }

    /// Uses the memory at `base`, which has 4 bytes for each pixel, as long as the caller keeps it.
    init(_ size: PictureSize, at base: UnsafeMutableRawPointer) {
        self.size = size
        self.base = base
    }

    /// Draws `picture` in the middle of black, without what exceeds the window; only black if it is nil.
    mutating func draw(_ picture: I420Picture?) {
        if picture == nil || picture?.size != drawn {
            memset(base, 0, stride * size.height)
            drawn = picture?.size
        }
        guard let picture else { return }
        let (x, y) = ((size.width - picture.size.width) / 2, (size.height - picture.size.height) / 2)
        if picture.size.width <= size.width, picture.size.height <= size.height {
            _ = I420ToBGRX.write(picture, to: base + y * stride + x * 4, stride: stride)
            return
        }
        let rowBytes = picture.size.width * 4
        let whole = UnsafeMutableRawPointer.allocate(byteCount: rowBytes * picture.size.height, alignment: 64)
        defer { whole.deallocate() }
        guard I420ToBGRX.write(picture, to: whole, stride: rowBytes) else { return }
        let rows = max(0, y)..<min(size.height, y + picture.size.height)
        for row in rows {
            memcpy(
                base + row * stride + max(0, x) * 4, whole + (row - y) * rowBytes + max(0, -x) * 4,
                min(rowBytes, stride))
        }
    }
}
