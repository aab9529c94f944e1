import CYUV
public import MediaTypes

/// Converts decoded pictures to RGB with the matrix and range that the picture specifies.
public enum I420ToRGB {
    /// The picture as three bytes a pixel (red, green, blue) without padding. Nil if its planes don't fit its size.
    public static func convert(_ picture: I420Picture) -> [UInt8]? {
        guard picture.isWhole else { return nil }
        let stride = picture.size.width * 3
        var pixels = [UInt8](repeating: 0, count: stride * picture.size.height)
        let isDone = pixels.withUnsafeMutableBufferPointer { write(picture, to: $0.baseAddress, stride: stride) }
        return isDone ? pixels : nil
    }

    /// Writes the picture as RGB into rows that are `stride` bytes apart, starting at `target`. Writes nothing and
    /// returns false if the planes don't fit the picture's size or if its rows don't fit `stride`.
    public static func write(_ picture: I420Picture, to target: UnsafeMutablePointer<UInt8>?, stride: Int) -> Bool {
        guard let target, picture.isWhole, stride >= picture.size.width * 3, stride <= Int(Int32.max) else {
            return false
        }
        // libyuv names bytes from the last to the first, so its RGB24 has blue first. With the chroma planes swapped
        // and a mirrored matrix, the same code writes red first.
        let picture = picture.forConversion()
        let matrix =
            switch (picture.matrix, picture.isFullRange) {
            case (.bt601, false): shim_yvu_601()
            case (.bt601, true): shim_yvu_601_full()
            case (.bt709, _): shim_yvu_709_full()
            }
        return picture.withPlanes { luma, blueDifference, redDifference in
            I420ToRGB24Matrix(
                luma, Int32(picture.size.width), redDifference, Int32(picture.chromaWidth),
                blueDifference, Int32(picture.chromaWidth), target, Int32(stride), matrix,
                Int32(picture.size.width), Int32(picture.size.height))
        } == 0
    }
}

extension I420Picture {
    /// Whether the bytes fit the size, and the size is at most 16384 in each dimension, so that no product can
    /// overflow.
    package var isWhole: Bool {
        (1...16_384).contains(size.width) && (1...16_384).contains(size.height)
            && bytes.count == lumaCount + 2 * chromaCount
    }

    /// Calls `body` with the planes Y, Cb and Cr of a valid picture. Returns -1 if the picture has no bytes.
    func withPlanes(
        _ body: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>) -> Int32
    ) -> Int32 {
        bytes.withUnsafeBufferPointer { all in
            guard let luma = all.baseAddress else { return -1 }
            return body(luma, luma + lumaCount, luma + lumaCount + chromaCount)
        }
    }
}
