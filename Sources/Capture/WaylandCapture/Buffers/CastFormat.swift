import CPipeWire
import MediaTypes

/// What the sender of a stream is asked for.
struct CastRequest {
    /// The highest number of pictures a second.
    var framesPerSecond: Int
    /// The size of a monitor that the sender makes for the stream; nil for a source that has its own. The sender may
    /// choose another size.
    var newMonitor: PictureSize?
    /// Whether formats that can't be read are accepted if the sender has no other. The stream's failure names them.
    var acceptsAnyFormat = false

    /// Connects a new stream to `node`; returns 0, or a negative errno.
    func connect(_ stream: OpaquePointer, to node: UInt32) -> Int32 {
        shim_pw_stream_connect(
            stream, node, UInt32(clamping: max(1, framesPerSecond)), UInt32(clamping: newMonitor?.width ?? 0),
            UInt32(clamping: newMonitor?.height ?? 0), acceptsAnyFormat)
    }
}

/// The format of a stream's pictures, as it was negotiated.
struct CastFormat: Equatable {
    /// The order of a pixel's four bytes. The last one is ignored: the picture of a window is on black.
    enum Order {
        /// Blue, green, red.
        case bgrx
        /// Red, green, blue.
        case rgbx
    }

    /// The longest side.
    static let maxSide = shim_max_side
    /// The most pixels: twice as many as the highest level of H.264 allows, because pictures may be scaled. Each takes
    /// four bytes of memory.
    static let maxPixels: UInt32 = 1 << 26
    /// All formats have four.
    static let bytesPerPixel = 4

    /// The size of the buffers' pictures, of which a part may be visible.
    let size: PictureSize
    let order: Order

    /// A format with this number of `spa_video_format`.
    init(_ number: UInt32, width: UInt32, height: UInt32) throws(BufferFault) {
        switch number {
        case SPA_VIDEO_FORMAT_BGRx.rawValue, SPA_VIDEO_FORMAT_BGRA.rawValue: order = .bgrx
        case SPA_VIDEO_FORMAT_RGBx.rawValue, SPA_VIDEO_FORMAT_RGBA.rawValue: order = .rgbx
        default:
            let name = shim_format_name(number).map { String(cString: $0) }
            throw .unsupportedFormat(name ?? "number \(number)")
        }
        // The product of two such sides fits into 32 bits.
        let isPossible = (1...Self.maxSide).contains(width) && (1...Self.maxSide).contains(height)
        guard isPossible, width * height <= Self.maxPixels else {
            throw .sizeOutOfRange(width: width, height: height)
        }
        size = PictureSize(width: Int(width), height: Int(height))
    }
}
