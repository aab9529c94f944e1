import Glibc
import MediaTypes
import VideoEncoding

/// The Y, Cb and Cr planes of a picture, in whole macroblocks.
final class CanvasPlanes {
    let width: Int
    let chromaWidth: Int
    private let size: PictureSize
    private let chroma: ChromaFormat
    private let height: Int
    private let chromaHeight: Int
    private let bytes: UnsafeMutablePointer<UInt8>

    /// Creates a black picture, in limited range.
    init(_ size: PictureSize, chroma: ChromaFormat) {
        self.size = size
        self.chroma = chroma
        width = (size.width + 15) & ~15
        height = (size.height + 15) & ~15
        chromaWidth = chroma == .yuv420 ? width / 2 : width
        chromaHeight = chroma == .yuv420 ? height / 2 : height
        bytes = .allocate(capacity: width * height + 2 * chromaWidth * chromaHeight)
        bytes.initialize(repeating: 16, count: width * height)
        fillChroma(128)
    }

    deinit {
        bytes.deallocate()
    }

    var luma: UnsafeMutablePointer<UInt8> { bytes }
    var blueDifference: UnsafeMutablePointer<UInt8> { bytes + width * height }
    var redDifference: UnsafeMutablePointer<UInt8> { blueDifference + chromaWidth * chromaHeight }

    /// The planes, for reading.
    var source: SourcePlanes {
        SourcePlanes(
            luma: bytes, blueDifference: blueDifference, redDifference: redDifference, lumaStride: width,
            chromaStride: chromaWidth)
    }

    func fillChroma(_ value: UInt8) {
        memset(blueDifference, Int32(value), 2 * chromaWidth * chromaHeight)
    }

    /// Copies `part` from `other`, including the repeated samples beyond the picture's edges next to it.
    func copy(_ part: PixelRectangle, from other: CanvasPlanes) {
        forEachRow(of: part) { row in memcpy(bytes + row.lowerBound, other.bytes + row.lowerBound, row.count) }
    }

    /// Whether `part` has the same samples in `other`.
    func matches(_ other: CanvasPlanes, in part: PixelRectangle) -> Bool {
        var isEqual = true
        forEachRow(of: part) { row in
            isEqual = isEqual && memcmp(bytes + row.lowerBound, other.bytes + row.lowerBound, row.count) == 0
        }
        return isEqual
    }

    /// Appends the samples of `part` to `samples`, including the repeated ones.
    func appendSamples(of part: PixelRectangle, to samples: inout [UInt8]) {
        forEachRow(of: part) { row in
            samples.append(contentsOf: UnsafeBufferPointer(start: bytes + row.lowerBound, count: row.count))
        }
    }

    /// Whether `part` has the samples at `start` of `samples`, as ``appendSamples(of:to:)`` has put them there. Moves
    /// `start` behind them.
    func matches(_ samples: UnsafeBufferPointer<UInt8>, from start: inout Int, in part: PixelRectangle) -> Bool {
        var isEqual = true
        forEachRow(of: part) { row in
            guard isEqual, let base = samples.baseAddress, start + row.count <= samples.count else {
                return isEqual = false
            }
            isEqual = memcmp(base + start, bytes + row.lowerBound, row.count) == 0
            start += row.count
        }
        return isEqual
    }

    /// Passes the places of the samples of `part`, row by row and plane by plane, including the repeated ones.
    private func forEachRow(of part: PixelRectangle, _ body: (Range<Int>) -> Void) {
        let right = part.x + part.width >= size.width ? width : part.x + part.width
        let bottom = part.y + part.height >= size.height ? height : part.y + part.height
        func pass(_ plane: UnsafeMutablePointer<UInt8>, _ stride: Int, _ divisor: Int) {
            let (start, end) = (part.x / divisor, (right + divisor - 1) / divisor)
            for row in part.y / divisor..<(bottom + divisor - 1) / divisor {
                let first = plane - bytes + row * stride
                body(first + start..<first + end)
            }
        }
        let divisor = chroma == .yuv420 ? 2 : 1
        pass(luma, width, 1)
        pass(blueDifference, chromaWidth, divisor)
        pass(redDifference, chromaWidth, divisor)
    }

    /// Repeats the picture's last column and row if the converted `area` touches its right or bottom edge.
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
