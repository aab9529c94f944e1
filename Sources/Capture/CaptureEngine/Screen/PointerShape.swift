package import ColorConversion
package import MediaTypes

/// The pointer's image and its hotspot, the pixel that points. Without pixels, the pointer is invisible.
package struct PointerShape: Equatable {
    /// The width in pixels.
    package var width: Int
    /// The height in pixels.
    package var height: Int
    /// The column of the hotspot.
    package var hotX: Int
    /// The row of the hotspot.
    package var hotY: Int
    /// Premultiplied ARGB, row by row, alpha in the highest byte; `width` times `height` values.
    package var pixels: [UInt32]

    /// A shape with these pixels, or an invisible one.
    package init(width: Int = 0, height: Int = 0, hotX: Int = 0, hotY: Int = 0, pixels: [UInt32] = []) {
        self.width = width
        self.height = height
        self.hotX = hotX
        self.hotY = hotY
        self.pixels = pixels
    }

    /// The same shape, scaled down if a side is longer than `limit`.
    package func fitting(_ limit: Int = CursorImage.maxSide) -> PointerShape {
        if isInvisible { return PointerShape() }
        let longest = max(width, height)
        if longest <= limit { return self }
        return resized(max(1, width * limit / longest), max(1, height * limit / longest))
    }

    /// The same shape, scaled by the same factors as a picture of size `screen` that is scaled to `pictures`.
    package func scaled(from screen: PictureSize, to pictures: PictureSize) -> PointerShape {
        if pictures == screen || isInvisible || screen.width < 1 || screen.height < 1 { return self }
        return resized(
            max(1, (width * pictures.width + screen.width / 2) / screen.width),
            max(1, (height * pictures.height + screen.height / 2) / screen.height))
    }

    /// Scales the shape; each new pixel is the mean of the old pixels that it replaces. Must not be called for an
    /// invisible shape.
    private func resized(_ newWidth: Int, _ newHeight: Int) -> PointerShape {
        var result: [UInt32] = []
        result.reserveCapacity(newWidth * newHeight)
        for y in 0..<newHeight {
            let rows = y * height / newHeight..<max(y * height / newHeight + 1, (y + 1) * height / newHeight)
            for x in 0..<newWidth {
                let columns = x * width / newWidth..<max(x * width / newWidth + 1, (x + 1) * width / newWidth)
                // The mean of premultiplied colours is the mean of what is visible.
                var sums: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
                for row in rows {
                    for column in columns {
                        let pixel = pixels[row * width + column]
                        sums.0 += pixel >> 24
                        sums.1 += pixel >> 16 & 255
                        sums.2 += pixel >> 8 & 255
                        sums.3 += pixel & 255
                    }
                }
                let count = UInt32(clamping: rows.count * columns.count)
                result.append(
                    (sums.0 / count) << 24 | (sums.1 / count) << 16 | (sums.2 / count) << 8 | sums.3 / count)
            }
        }
        return PointerShape(
            width: newWidth, height: newHeight, hotX: min(hotX * newWidth / width, newWidth - 1),
            hotY: min(hotY * newHeight / height, newHeight - 1), pixels: result)
    }

    /// Whether the shape has no visible pixel.
    package var isInvisible: Bool { pixels.count < width * height || pixels.allSatisfy { $0 >> 24 == 0 } }

    /// Blends the shape over the part of `target` that `area` covers; `area` has the shape's size.
    package func draw(at area: PixelRectangle, into target: GrabbedPixels, format: ScreenToPlanes.PixelFormat) {
        let meeting = area.intersection(target.rectangle)
        if meeting.isEmpty || pixels.count < width * height { return }
        for y in meeting.y..<meeting.y + meeting.height {
            let source = (y - area.y) * width - area.x
            let row = target.base + (y - target.rectangle.y) * target.stride
            for x in meeting.x..<meeting.x + meeting.width {
                let over = pixels[source + x]
                if over >> 24 == 0 { continue }
                let column = x - target.rectangle.x
                switch format {
                case .bgrx:
                    let under = row.loadUnaligned(fromByteOffset: column * 4, as: UInt32.self)
                    row.storeBytes(of: Self.blend(over, on: under), toByteOffset: column * 4, as: UInt32.self)
                case .rgb565:
                    let under = row.loadUnaligned(fromByteOffset: column * 2, as: UInt16.self)
                    let wide = UInt32(under >> 11 & 31) << 19 | UInt32(under >> 5 & 63) << 10 | UInt32(under & 31) << 3
                    let mixed = Self.blend(over, on: wide)
                    let narrow = mixed >> 8 & 0xF800 | mixed >> 5 & 0x07E0 | mixed >> 3 & 0x1F
                    row.storeBytes(of: UInt16(truncatingIfNeeded: narrow), toByteOffset: column * 2, as: UInt16.self)
                }
            }
        }
    }

    /// Blends `over` (premultiplied) onto an opaque pixel.
    package static func blend(_ over: UInt32, on under: UInt32) -> UInt32 {
        let rest = 255 - over >> 24
        var result: UInt32 = 0xFF00_0000
        for shift: UInt32 in [0, 8, 16] {
            let mixed = (over >> shift & 255) + ((under >> shift & 255) * rest + 127) / 255
            // If the pixels aren't really premultiplied, the sum must not overflow into the next colour.
            result |= min(mixed, 255) << shift
        }
        return result
    }
}
