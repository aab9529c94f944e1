import CYUV
public import MediaTypes

/// Converts rectangles of a screen to planar 4:2:0 or 4:4:4, in BT.601 with limited range (which libyuv's tables use).
public enum ScreenToPlanes {
    /// The layout of a screen pixel in memory.
    public enum PixelFormat: Sendable {
        /// Four bytes a pixel: blue, green, red, unused.
        case bgrx
        /// Two bytes a pixel, little-endian: five bits red, six green, five blue.
        case rgb565

        /// The number of bytes per pixel.
        public var bytesPerPixel: Int { self == .bgrx ? 4 : 2 }
    }

    /// The planes to write to. The caller owns the memory; the planes cover the whole picture.
    public struct Destination {
        /// The addresses of the picture's top left samples of Y, Cb and Cr.
        public var luma: UnsafeMutablePointer<UInt8>
        /// The address of the picture's top left sample of Cb.
        public var blueDifference: UnsafeMutablePointer<UInt8>
        /// The address of the picture's top left sample of Cr.
        public var redDifference: UnsafeMutablePointer<UInt8>
        /// The number of bytes from one row to the next.
        public var lumaStride: Int
        /// The number of bytes from one row of a chroma plane to the next.
        public var chromaStride: Int
        /// The size of the luma plane. The chroma planes of 4:2:0 have half of it, rounded up.
        public var size: PictureSize
        /// The chroma format of the planes.
        public var chroma: ChromaFormat

        /// Creates a destination from these planes.
        public init(
            luma: UnsafeMutablePointer<UInt8>, blueDifference: UnsafeMutablePointer<UInt8>,
            redDifference: UnsafeMutablePointer<UInt8>, lumaStride: Int, chromaStride: Int, size: PictureSize,
            chroma: ChromaFormat = .yuv420
        ) {
            self.luma = luma
            self.blueDifference = blueDifference
            self.redDifference = redDifference
            self.lumaStride = lumaStride
            self.chromaStride = chromaStride
            self.size = size
            self.chroma = chroma
        }
    }

    /// Converts the pixels of `rectangle`, which are at `source` row by row, and writes them to the same place in
    /// `destination`.
    ///
    /// The rectangle's origin must be even on both axes, because a 4:2:0 chroma sample covers two by two pixels. If its
    /// size is odd, the last chroma sample is made of the pixels that exist. Returns false, and writes nothing, if the
    /// rectangle isn't inside the picture or isn't aligned.
    @discardableResult
    public static func convert(
        _ source: UnsafeRawPointer, stride: Int, format: PixelFormat, rectangle: PixelRectangle,
        into destination: Destination
    ) -> Bool {
        guard !rectangle.isEmpty, rectangle.x >= 0, rectangle.y >= 0, rectangle.x & 1 == 0, rectangle.y & 1 == 0,
            rectangle.width <= destination.size.width - rectangle.x,
            rectangle.height <= destination.size.height - rectangle.y,
            stride >= rectangle.width * format.bytesPerPixel
        else { return false }
        switch destination.chroma {
        case .yuv420:
            let convert = format == .bgrx ? ARGBToI420 : RGB565ToI420
            return call(convert, source, stride: stride, rectangle, destination, shift: 1)
        case .yuv444 where format == .bgrx:
            return call(ARGBToI444, source, stride: stride, rectangle, destination, shift: 0)
        case .yuv444:
            return convertRows(source, stride: stride, rectangle, destination)
        }
    }

    private typealias Conversion = (
        UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32,
        UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
    ) -> Int32

    private static func call(
        _ convert: Conversion, _ source: UnsafeRawPointer, stride: Int, _ rectangle: PixelRectangle,
        _ destination: Destination, shift: Int
    ) -> Bool {
        let chroma = (rectangle.y >> shift) * destination.chromaStride + (rectangle.x >> shift)
        let luma = destination.luma + rectangle.y * destination.lumaStride + rectangle.x
        return convert(
            source.assumingMemoryBound(to: UInt8.self), Int32(clamping: stride),
            luma, Int32(clamping: destination.lumaStride),
            destination.blueDifference + chroma, Int32(clamping: destination.chromaStride),
            destination.redDifference + chroma, Int32(clamping: destination.chromaStride),
            Int32(clamping: rectangle.width), Int32(clamping: rectangle.height)) == 0
    }

    /// Converts 16-bit pixels to 4:4:4. libyuv can't do it in one step, so each row is first converted to 32 bits.
    private static func convertRows(
        _ source: UnsafeRawPointer, stride: Int, _ rectangle: PixelRectangle, _ destination: Destination
    ) -> Bool {
        var wide = [UInt8](repeating: 0, count: rectangle.width * 4)
        for row in 0..<rectangle.height {
            let narrow = (source + row * stride).assumingMemoryBound(to: UInt8.self)
            let width = Int32(clamping: rectangle.width)
            guard RGB565ToARGB(narrow, Int32(clamping: stride), &wide, width * 4, width, 1) == 0 else { return false }
            let line = PixelRectangle(x: rectangle.x, y: rectangle.y + row, width: rectangle.width, height: 1)
            let isDone = wide.withUnsafeBytes { bytes in
                bytes.baseAddress.map {
                    call(ARGBToI444, $0, stride: rectangle.width * 4, line, destination, shift: 0)
                } ?? false
            }
            if !isDone { return false }
        }
        return true
    }
}
