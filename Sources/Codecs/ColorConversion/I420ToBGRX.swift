import CYUV
public import MediaTypes

/// Converts decoded pictures to the usual pixels of X servers, with the matrix and range that the picture specifies.
public enum I420ToBGRX {
    /// Writes the picture as four bytes a pixel (blue, green, red and one that has no meaning) into rows that are
    /// `stride` bytes apart, starting at `target`, which must have room for them. Writes nothing and returns false if
    /// the planes don't fit the picture's size or if its rows don't fit `stride`.
    public static func write(_ picture: I420Picture, to target: UnsafeMutableRawPointer, stride: Int) -> Bool {
        guard picture.isWhole, stride >= picture.size.width * 4, stride <= Int(Int32.max) else { return false }
        let picture = picture.forConversion()
        let matrix =
            switch (picture.matrix, picture.isFullRange) {
            case (.bt601, false): shim_yuv_601()
            case (.bt601, true): shim_yuv_601_full()
            case (.bt709, _): shim_yuv_709_full()
            }
        let pixels = target.assumingMemoryBound(to: UInt8.self)
        return picture.withPlanes { luma, blueDifference, redDifference in
            I420ToARGBMatrix(
                luma, Int32(picture.size.width), blueDifference, Int32(picture.chromaWidth), redDifference,
                Int32(picture.chromaWidth), pixels, Int32(stride), matrix, Int32(picture.size.width),
                Int32(picture.size.height))
        } == 0
    }
}
