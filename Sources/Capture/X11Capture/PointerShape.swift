import MediaTypes

/// What the pointer looks like: premultiplied ARGB, row by row, and which of its pixels points.
struct PointerShape: Equatable {
    var width = 0
    var height = 0
    var hotX = 0
    var hotY = 0
    var pixels: [UInt32] = []

    /// Whether nothing of it would show.
    var isInvisible: Bool { pixels.count < width * height || pixels.allSatisfy { $0 >> 24 == 0 } }

    /// Blends it over the part of `target` that `area` covers; `area` has the shape's size.
    func draw(at area: PixelRectangle, into target: GrabbedPixels, format: ScreenPixelFormat) {
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

    /// `over` (premultiplied) on top of an opaque pixel.
    static func blend(_ over: UInt32, on under: UInt32) -> UInt32 {
        let rest = 255 - over >> 24
        var result: UInt32 = 0xFF00_0000
        for shift: UInt32 in [0, 8, 16] {
            let mixed = (over >> shift & 255) + ((under >> shift & 255) * rest + 127) / 255
            // A shape that isn't really premultiplied must not spill into the next colour.
            result |= min(mixed, 255) << shift
        }
        return result
    }
}
