import CX264
import Glibc
import MediaTypes

/// An encoder's last picture as decoders see it. It is in x264's memory, where the next picture refers to it, and is
/// valid until the picture after the next one begins; or it is in that of a `ReferenceMemory`.
///
/// Each plane has a margin of `margin` samples, because motion vectors may point there (ITU-T H.264 section 8.4.2.2.1).
/// It extends to the left and right and, for luma, above and below; for 4:2:0 chroma it has half as many rows.
///
/// x264 provides these planes for reading. That they may be written between two pictures, and that they have a margin,
/// is an implementation detail of x264 (PADH and PADV in its common/frame.c) and not guaranteed, so the tests decode
/// the result and compare every picture.
struct ReconstructedPicture {
    /// The number of samples around luma on every side.
    static let margin = 32

    struct Plane {
        var base: UnsafeMutablePointer<UInt8>
        var stride: Int
        /// The number of luma rows for each row of this plane.
        var lumaRows: Int
    }

    /// The number of planes: luma and interleaved chroma (4:2:0), or three (4:4:4).
    let planeCount: Int
    private let first: Plane
    private let second: Plane
    private let third: Plane

    init?(_ image: x264_image_t) {
        let format = image.i_csp & Int32(X264_CSP_MASK)
        guard let luma = image.plane.0, let chroma = image.plane.1 else { return nil }
        first = Plane(base: luma, stride: Int(image.i_stride.0), lumaRows: 1)
        if format == X264_CSP_NV12 {
            planeCount = 2
            second = Plane(base: chroma, stride: Int(image.i_stride.1), lumaRows: 2)
            third = second
        } else {
            guard format == X264_CSP_I444, let redDifference = image.plane.2 else { return nil }
            planeCount = 3
            second = Plane(base: chroma, stride: Int(image.i_stride.1), lumaRows: 1)
            third = Plane(base: redDifference, stride: Int(image.i_stride.2), lumaRows: 1)
        }
    }

    init(_ first: Plane, _ second: Plane, _ third: Plane? = nil) {
        planeCount = third == nil ? 2 : 3
        self.first = first
        self.second = second
        self.third = third ?? second
    }

    /// Plane 0 is luma. Plane 1 is interleaved chroma, or Cb followed by Cr as plane 2.
    func plane(_ index: Int) -> Plane { index == 0 ? first : index == 1 ? second : third }

    /// Copies `count` luma rows and the matching chroma rows, with their left and right margins.
    ///
    /// Row numbers may be negative, to address the margin. `width` must be a multiple of 16.
    func copyRows(_ first: Int, count: Int, width: Int, from source: ReconstructedPicture, at start: Int) {
        for index in 0..<min(planeCount, source.planeCount) {
            let plane = plane(index)
            let other = source.plane(index)
            for row in 0..<count / plane.lumaRows {
                // 4:2:0 chroma has half the columns and two interleaved components: as many bytes a row as luma.
                memcpy(
                    plane.base + (first / plane.lumaRows + row) * plane.stride - Self.margin,
                    other.base + (start / plane.lumaRows + row) * other.stride - Self.margin,
                    width + 2 * Self.margin)
            }
        }
    }

    /// Copies what is visible of a picture in 4:2:0, which is interleaved; nil for one in 4:4:4.
    func copy(_ size: PictureSize, isFullRange: Bool, matrix: ColorMatrix) -> I420Picture? {
        guard planeCount == 2 else { return nil }
        let (columns, rows) = ((size.width + 1) / 2, (size.height + 1) / 2)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size.width * size.height + 2 * columns * rows)
        for row in 0..<size.height {
            bytes.append(contentsOf: UnsafeBufferPointer(start: first.base + row * first.stride, count: size.width))
        }
        for component in 0..<2 {
            for row in 0..<rows {
                let line = second.base + row * second.stride + component
                for column in 0..<columns { bytes.append(line[2 * column]) }
            }
        }
        return I420Picture(size: size, bytes: bytes, isFullRange: isFullRange, matrix: matrix, captureTime: nil)
    }
}
