import CPipeWire
import CaptureEngine
import MediaTypes

/// What a buffer reports about the pointer (struct spa_meta_cursor, with a struct spa_meta_bitmap in it).
///
///      0        4        8       12      16       20       24          28
///     +--------+--------+-------+-------+--------+--------+-----------+
///     | id     | flags  | x     | y     | hot x  | hot y  | bitmap at | ...
///     +--------+--------+-------+-------+--------+--------+-----------+
///
///     at the bitmap:
///      0        4        8        12       16          20
///     +--------+--------+--------+--------+-----------+
///     | format | width  | height | stride | pixels at | ...
///     +--------+--------+--------+--------+-----------+
enum CursorReport: Equatable {
    /// The pointer can't be seen.
    case hidden
    /// The pixel that points is there, in pixels of the whole picture, which is upright even if the buffer has it
    /// rotated: OBS draws it so, and PipeWire's documentation doesn't say. The shape is nil if it is the last one.
    case at(x: Int, y: Int, shape: PointerShape?)

    /// The longest side.
    static let maxSide = shim_max_pointer_side

    private static let cursorBytes = 28
    private static let bitmapBytes = 20

    /// Reads a report; nil if there is none. A shape that can't be used is a fault.
    static func read(_ bytes: UnsafeRawBufferPointer) throws(BufferFault) -> CursorReport? {
        guard let id = bytes.word(at: 0), bytes.count >= cursorBytes else { return nil }
        if id == 0 { return .hidden }
        guard let x = bytes.word(at: 8), let y = bytes.word(at: 12), let hotX = bytes.word(at: 16),
            let hotY = bytes.word(at: 20), let bitmap = bytes.word(at: 24)
        else { return nil }
        var shape: PointerShape?
        if bitmap != 0 {
            guard bitmap >= UInt32(cursorBytes), Int(bitmap) + bitmapBytes <= bytes.count else {
                throw .pointerOutside(bytes: bytes.count)
            }
            shape = try read(
                UnsafeRawBufferPointer(rebasing: bytes[Int(bitmap)...]), Int(Int32(bitPattern: hotX)),
                Int(Int32(bitPattern: hotY)))
        }
        return .at(x: Int(Int32(bitPattern: x)), y: Int(Int32(bitPattern: y)), shape: shape)
    }

    /// Reads a shape; nil if the bitmap isn't a new one.
    private static func read(
        _ bytes: UnsafeRawBufferPointer, _ hotX: Int, _ hotY: Int
    ) throws(BufferFault) -> PointerShape? {
        guard let format = bytes.word(at: 0), let width = bytes.word(at: 4), let height = bytes.word(at: 8),
            let stride = bytes.word(at: 12), let offset = bytes.word(at: 16)
        else { return nil }
        // Without pixels, it can't be seen. To PipeWire's documentation, a bitmap without a format isn't a new one, but
        // mutter sends one of zeros when a program hides the pointer.
        if width == 0 || height == 0 { return PointerShape() }
        if format == 0 { return nil }
        if offset == 0 { return PointerShape() }
        guard width <= maxSide, height <= maxSide else { throw .pointerTooLarge(width: width, height: height) }
        guard let order = Order(format) else { throw .pointerFormat(format) }
        let rowBytes = Int(Int32(bitPattern: stride))
        let (columns, rows, start) = (Int(width), Int(height), Int(offset))
        guard start >= bitmapBytes, rowBytes >= columns * 4, start + (rows - 1) * rowBytes + columns * 4 <= bytes.count
        else { throw .pointerOutside(bytes: bytes.count) }
        var pixels: [UInt32] = []
        pixels.reserveCapacity(columns * rows)
        for row in 0..<rows {
            for column in 0..<columns {
                let at = start + row * rowBytes + column * 4
                pixels.append(order.pixel(bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
            }
        }
        return PointerShape(
            width: columns, height: rows, hotX: min(max(0, hotX), columns - 1), hotY: min(max(0, hotY), rows - 1),
            pixels: pixels)
    }

    /// The order of a pixel's bytes; colours are premultiplied.
    private enum Order {
        case bgra
        case rgba
        case argb
        case abgr

        init?(_ format: UInt32) {
            switch format {
            case SPA_VIDEO_FORMAT_BGRA.rawValue: self = .bgra
            case SPA_VIDEO_FORMAT_RGBA.rawValue: self = .rgba
            case SPA_VIDEO_FORMAT_ARGB.rawValue: self = .argb
            case SPA_VIDEO_FORMAT_ABGR.rawValue: self = .abgr
            default: return nil
            }
        }

        /// A pixel with alpha in the highest byte, then red, green and blue; `stored` is little-endian.
        func pixel(_ stored: UInt32) -> UInt32 {
            switch self {
            case .bgra: stored
            case .rgba: stored & 0xFF00_FF00 | stored >> 16 & 0xFF | (stored & 0xFF) << 16
            case .argb: stored.byteSwapped
            case .abgr: stored >> 8 | stored << 24
            }
        }
    }
}
