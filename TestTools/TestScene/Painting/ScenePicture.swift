/// A picture in memory: one that a scene paints without an X server, or a decoded one that a test reads.
public struct ScenePicture: ScenePainter, Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The number of bytes from one pixel to the next: 1 (grey), 3 (RGB) or 4 (RGBA).
    public let bytesPerPixel: Int
    /// The number of bytes from one row to the next.
    public let rowBytes: Int
    /// The pixels, row by row from the top.
    public private(set) var bytes: [UInt8]

    /// Creates a black picture with three bytes a pixel, to paint on.
    public init(width: Int, height: Int) {
        self.width = max(0, width)
        self.height = max(0, height)
        bytesPerPixel = 3
        rowBytes = self.width * 3
        bytes = [UInt8](repeating: 0, count: rowBytes * self.height)
    }

    /// Creates a picture from existing bytes; returns nil if there are too few of them for the size. Without
    /// `rowBytes`, rows follow each other without a gap.
    public init?(bytes: [UInt8], width: Int, height: Int, bytesPerPixel: Int = 3, rowBytes: Int? = nil) {
        let (row, rowOverflows) = width.multipliedReportingOverflow(by: bytesPerPixel)
        let stride = rowBytes ?? row
        let (total, overflows) = stride.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, [1, 3, 4].contains(bytesPerPixel), !rowOverflows, stride >= row, !overflows,
            bytes.count >= total - (stride - row)
        else { return nil }
        self.width = width
        self.height = height
        self.bytesPerPixel = bytesPerPixel
        self.rowBytes = stride
        self.bytes = bytes
    }

    /// Paints the whole picture of `scene` at `tick`.
    public init(_ scene: any Scene, tick: Int) {
        self.init(width: scene.width, height: scene.height)
        _ = scene.paint(tick: tick, after: nil, with: &self)
    }

    public mutating func fill(_ rectangle: SceneRectangle, _ color: SceneColor) {
        let inside = rectangle.intersection(SceneRectangle(0, 0, width, height))
        guard inside.width > 0, inside.height > 0, bytesPerPixel >= 3 else { return }
        for y in inside.y..<inside.bottom {
            var index = y * rowBytes + inside.x * bytesPerPixel
            for _ in 0..<inside.width {
                bytes[index] = color.red
                bytes[index + 1] = color.green
                bytes[index + 2] = color.blue
                index += bytesPerPixel
            }
        }
    }

    public mutating func draw(_ sheet: SceneSheet, _ part: SceneRectangle, x: Int, y: Int) {
        let source = part.intersection(sheet.bounds)
        let target = SceneRectangle(x, y, source.width, source.height)
            .intersection(SceneRectangle(0, 0, width, height))
        guard bytesPerPixel >= 3 else { return }
        for row in target.y..<target.bottom {
            let from = (source.y + row - y) * sheet.width + source.x + target.x - x
            var index = row * rowBytes + target.x * bytesPerPixel
            for pixel in sheet.pixels[from..<from + target.width] {
                bytes[index] = UInt8(truncatingIfNeeded: pixel >> 16)
                bytes[index + 1] = UInt8(truncatingIfNeeded: pixel >> 8)
                bytes[index + 2] = UInt8(truncatingIfNeeded: pixel)
                index += bytesPerPixel
            }
        }
    }

    /// The mean colour of `rectangle`, or nil if no part of it lies in the picture. Grey gives three equal parts.
    public func meanColor(of rectangle: SceneRectangle) -> SceneColor? {
        let inside = rectangle.intersection(SceneRectangle(0, 0, width, height))
        guard inside.width > 0, inside.height > 0 else { return nil }
        var sums = [0, 0, 0]
        for y in inside.y..<inside.bottom {
            for x in inside.x..<inside.right {
                let index = y * rowBytes + x * bytesPerPixel
                for part in 0..<3 { sums[part] += Int(bytes[index + (bytesPerPixel == 1 ? 0 : part)]) }
            }
        }
        let count = inside.width * inside.height
        return SceneColor(
            UInt8(clamping: sums[0] / count), UInt8(clamping: sums[1] / count), UInt8(clamping: sums[2] / count))
    }
}
