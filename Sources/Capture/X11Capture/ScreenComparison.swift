import Glibc
import MediaTypes

/// Finds what has changed by comparing with the picture before: for servers without the Damage extension.
///
/// Costs a whole picture of memory, and a whole grab each time it is asked.
final class ScreenComparison {
    private var previous: [UInt8] = []
    private let size: PictureSize
    private let stride: Int
    private let bytesPerPixel: Int
    // Rows that are compared, and reported, together.
    private static let bandRows = 16

    init(size: PictureSize, pixels: PixelLayout) {
        self.size = size
        stride = pixels.stride(width: size.width)
        bytesPerPixel = pixels.format.bytesPerPixel
    }

    /// The bands that differ from the call before; all of them at the first call.
    func changes(_ grabber: ScreenGrabber) throws(X11CaptureError) -> [PixelRectangle] {
        let isFirst = previous.isEmpty
        if isFirst { previous = [UInt8](repeating: 0, count: stride * size.height) }
        var changed: [PixelRectangle] = []
        let whole = PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)
        try grabber.grab([whole]) { pixels in
            var top = 0
            while top < pixels.rectangle.height {
                let rows = min(Self.bandRows, pixels.rectangle.height - top)
                let y = pixels.rectangle.y + top
                if compareAndKeep(pixels.base + top * pixels.stride, y: y, rows: rows) || isFirst {
                    changed.append(PixelRectangle(x: 0, y: y, width: size.width, height: rows))
                }
                top += rows
            }
        }
        return changed
    }

    private func compareAndKeep(_ source: UnsafeMutableRawPointer, y: Int, rows: Int) -> Bool {
        previous.withUnsafeMutableBytes { kept in
            guard let base = kept.baseAddress else { return false }
            let target = base + y * stride
            // Row by row: what stands in a row's padding is not ours to compare.
            var differs = false
            for row in 0..<rows {
                let offset = row * stride
                if memcmp(target + offset, source + offset, size.width * bytesPerPixel) != 0 {
                    memcpy(target + offset, source + offset, size.width * bytesPerPixel)
                    differs = true
                }
            }
            return differs
        }
    }
}
