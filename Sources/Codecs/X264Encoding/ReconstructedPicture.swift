import CX264
import Glibc

/// An encoder's last picture as decoders see it, in the library's own memory, where the next picture refers to it: valid until
/// the picture after that is begun.
///
/// Around each plane stand `margin` more samples (ITU-T H.264 section 8.4.2.2.1 lets motion vectors point there): left and
/// right, and, for luma, above and below; for the chroma of 4:2:0 half as many rows.
///
/// The library hands these planes out to be looked at. That they may also be written between two pictures, and that the
/// margin is there, is how its frames are made (PADH and PADV in its common/frame.c) and not promised: the tests decode
/// what comes of it and compare every picture.
struct ReconstructedPicture {
    /// Samples around luma on every side.
    static let margin = 32

    struct Plane {
        var base: UnsafeMutablePointer<UInt8>
        var stride: Int
        /// Rows of luma for each row of this plane.
        var lumaRows: Int
    }

    /// How many planes there are: luma and interleaved chroma (4:2:0), or three (4:4:4).
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

    /// Luma, then Cb and Cr in turns, or Cb and then Cr.
    func plane(_ index: Int) -> Plane { index == 0 ? first : index == 1 ? second : third }

    /// Copies `count` rows (of luma; those of chroma that belong to them) with their margins on the left and on the right.
    /// Rows may be negative, into the margin. `width` is a multiple of 16.
    func copyRows(_ first: Int, count: Int, width: Int, from source: ReconstructedPicture, at start: Int) {
        for index in 0..<min(planeCount, source.planeCount) {
            let plane = plane(index)
            let other = source.plane(index)
            for row in 0..<count / plane.lumaRows {
                // Chroma of 4:2:0 has half the columns and both components in turns: as many bytes a row as luma.
                memcpy(
                    plane.base + (first / plane.lumaRows + row) * plane.stride - Self.margin,
                    other.base + (start / plane.lumaRows + row) * other.stride - Self.margin,
                    width + 2 * Self.margin)
            }
        }
    }
}
