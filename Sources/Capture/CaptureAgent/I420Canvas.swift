import ColorConversion
import Glibc
import MediaTypes
import X264Encoding

/// The screen in 4:2:0: changed rectangles are converted into it, and the encoder reads it.
///
/// Odd sides are rounded up, with the last column and row repeated.
final class I420Canvas {
    let size: PictureSize
    private let width: Int
    private let height: Int
    private let bytes: UnsafeMutablePointer<UInt8>

    init(_ size: PictureSize) {
        self.size = size
        width = size.width + size.width & 1
        height = size.height + size.height & 1
        bytes = .allocate(capacity: width * height * 3 / 2)
        // Black, in limited range.
        bytes.initialize(repeating: 16, count: width * height)
        (bytes + width * height).initialize(repeating: 128, count: width * height / 2)
    }

    deinit {
        bytes.deallocate()
    }

    /// Where rectangles are converted to.
    var destination: ScreenToI420.Destination {
        ScreenToI420.Destination(
            luma: bytes, blueDifference: bytes + width * height, redDifference: bytes + width * height * 5 / 4,
            lumaStride: width, chromaStride: width / 2, size: size)
    }

    /// What the encoder reads.
    var planes: SourcePlanes {
        SourcePlanes(
            luma: bytes, blueDifference: bytes + width * height, redDifference: bytes + width * height * 5 / 4,
            lumaStride: width, chromaStride: width / 2)
    }

    /// Repeats the last column and row where a side is odd; the chroma planes are rounded up by the conversion.
    func repeatEdges() {
        if width > size.width {
            for row in 0..<size.height { bytes[row * width + size.width] = bytes[row * width + size.width - 1] }
        }
        if height > size.height { memcpy(bytes + size.height * width, bytes + (size.height - 1) * width, width) }
    }
}
