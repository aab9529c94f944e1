import CYUV
public import MediaTypes

/// Converts rectangles of a screen to planar 4:2:0 or 4:4:4, in BT.601 with limited range (that is what libyuv's tables hold).
public enum ScreenToPlanes {
    /// How a pixel of the screen stands in memory.
    public enum PixelFormat: Sendable {
        /// Four bytes a pixel: blue, green, red, unused.
        case bgrx
        /// Two bytes a pixel, little-endian: five bits red, six green, five blue.
        case rgb565

        /// Bytes a pixel.
        public var bytesPerPixel: Int { self == .bgrx ? 4 : 2 }
    }

    /// The planes to write into; they belong to the caller and cover the whole picture.
    public struct Destination {
        /// Y, Cb and Cr of the picture's top left pixel.
        public var luma: UnsafeMutablePointer<UInt8>
        public var blueDifference: UnsafeMutablePointer<UInt8>
        public var redDifference: UnsafeMutablePointer<UInt8>
        /// Bytes from one row to the next.
        public var lumaStride: Int
        public var chromaStride: Int
        /// The size of the luma plane; the chroma planes of 4:2:0 have half of it, rounded up.
        public var size: PictureSize
        /// How many chroma samples there are.
        public var chroma: ChromaFormat

        /// Planes at these addresses.
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

    /// Writes the pixels at `source`, which are those of `rectangle` row by row, to where `rectangle` stands in `destination`.
    ///
    /// The rectangle's origin must be even on both axes, because a chroma sample of 4:2:0 covers two pixels each way; where its
    /// size is odd, the last chroma sample is made of the pixels that there are. Gives false, and writes nothing, for a rectangle
    /// that isn't inside the picture or not aligned.
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

    /// 16 bits a pixel to 4:4:4: libyuv has no single step, so each row goes through 32 bits.
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
