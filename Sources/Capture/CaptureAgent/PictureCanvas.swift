import ColorConversion
import Glibc
import MediaTypes
import X264Encoding

/// The picture as it should look, in planes: changed rectangles are converted into it, and the encoder reads it.
///
/// Covers whole macroblocks: beyond the picture's edge its last column and row are repeated.
final class PictureCanvas {
    /// What is shown.
    let size: PictureSize
    let chroma: ChromaFormat
    private let width: Int
    private let height: Int
    private let chromaWidth: Int
    private let chromaHeight: Int
    private let bytes: UnsafeMutablePointer<UInt8>

    init(_ size: PictureSize, chroma: ChromaFormat) {
        self.size = size
        self.chroma = chroma
        width = (size.width + 15) & ~15
        height = (size.height + 15) & ~15
        chromaWidth = chroma == .yuv420 ? width / 2 : width
        chromaHeight = chroma == .yuv420 ? height / 2 : height
        let luma = width * height
        bytes = .allocate(capacity: luma + 2 * chromaWidth * chromaHeight)
        // Black, in limited range.
        bytes.initialize(repeating: 16, count: luma)
        (bytes + luma).initialize(repeating: 128, count: 2 * chromaWidth * chromaHeight)
    }

    deinit {
        bytes.deallocate()
    }

    private var blueDifference: UnsafeMutablePointer<UInt8> { bytes + width * height }
    private var redDifference: UnsafeMutablePointer<UInt8> { blueDifference + chromaWidth * chromaHeight }

    /// Where rectangles are converted to.
    var destination: ScreenToPlanes.Destination {
        ScreenToPlanes.Destination(
            luma: bytes, blueDifference: blueDifference, redDifference: redDifference, lumaStride: width,
            chromaStride: chromaWidth, size: size, chroma: chroma)
    }

    /// What the encoder reads.
    var planes: SourcePlanes {
        SourcePlanes(
            luma: bytes, blueDifference: blueDifference, redDifference: redDifference, lumaStride: width,
            chromaStride: chromaWidth)
    }

    /// Hands out luma (`width` bytes a row) to be drawn into, with grey chroma.
    func drawGrey(_ body: (UnsafeMutablePointer<UInt8>, _ stride: Int) -> Void) {
        memset(blueDifference, 128, 2 * chromaWidth * chromaHeight)
        body(bytes, width)
        repeatEdges(PixelRectangle(x: 0, y: 0, width: size.width, height: size.height))
    }

    /// Repeats the last column and row where `area`, which was converted, touches the picture's edge.
    func repeatEdges(_ area: PixelRectangle) {
        // The chroma planes of 4:2:0 are rounded up by the conversion.
        let chromaColumns = chroma == .yuv420 ? (size.width + 1) / 2 : size.width
        let chromaRows = chroma == .yuv420 ? (size.height + 1) / 2 : size.height
        if area.x + area.width >= size.width, width > size.width {
            let rows = area.y..<area.y + area.height
            Self.repeatColumn(bytes, stride: width, from: size.width, rows)
            let step = chroma == .yuv420 ? 2 : 1
            let parts = area.y / step..<min(chromaRows, (area.y + area.height + step - 1) / step)
            Self.repeatColumn(blueDifference, stride: chromaWidth, from: chromaColumns, parts)
            Self.repeatColumn(redDifference, stride: chromaWidth, from: chromaColumns, parts)
        }
        if area.y + area.height >= size.height, height > size.height {
            Self.repeatRow(bytes, stride: width, from: size.height, to: height)
            Self.repeatRow(blueDifference, stride: chromaWidth, from: chromaRows, to: chromaHeight)
            Self.repeatRow(redDifference, stride: chromaWidth, from: chromaRows, to: chromaHeight)
        }
    }

    private static func repeatColumn(
        _ plane: UnsafeMutablePointer<UInt8>, stride: Int, from column: Int, _ rows: Range<Int>
    ) {
        for row in rows {
            let start = plane + row * stride + column
            memset(start, Int32(start[-1]), stride - column)
        }
    }

    private static func repeatRow(_ plane: UnsafeMutablePointer<UInt8>, stride: Int, from row: Int, to end: Int) {
        for target in row..<end { memcpy(plane + target * stride, plane + (row - 1) * stride, stride) }
    }
}
