import CYUV
public import MediaTypes

/// Converts decoded pictures to RGB, by the matrix and the range that the picture itself names.
public enum I420ToRGB {
    /// Red, green, blue: three bytes a pixel, rows without padding; nil for a picture whose planes don't fit its size.
    public static func convert(_ picture: I420Picture) -> [UInt8]? {
        guard picture.isWhole else { return nil }
        let stride = picture.size.width * 3
        var pixels = [UInt8](repeating: 0, count: stride * picture.size.height)
        let isDone = pixels.withUnsafeMutableBufferPointer { write(picture, to: $0.baseAddress, stride: stride) }
        return isDone ? pixels : nil
    }

    /// As above, into rows that begin every `stride` bytes from `target` on; false, and nothing written, where the picture's
    /// planes don't fit its size or its rows don't fit `stride`.
    public static func write(_ picture: I420Picture, to target: UnsafeMutablePointer<UInt8>?, stride: Int) -> Bool {
        guard let target, picture.isWhole, stride >= picture.size.width * 3, stride <= Int(Int32.max) else {
            return false
        }
        // libyuv names bytes from the last to the first: its RGB24 is blue first. With the chroma planes swapped and the
        // matrix mirrored to match, the same code gives red first.
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
    /// Whether the bytes are just the planes of its size, of which no side is over 16384: then no product overflows.
    var isWhole: Bool {
        (1...16_384).contains(size.width) && (1...16_384).contains(size.height)
            && bytes.count == lumaCount + 2 * chromaCount
    }

    /// Calls `body` with Y, Cb and Cr of a whole picture; -1 where there is none.
    func withPlanes(
        _ body: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>) -> Int32
    ) -> Int32 {
        bytes.withUnsafeBufferPointer { all in
            guard let luma = all.baseAddress else { return -1 }
            return body(luma, luma + lumaCount, luma + lumaCount + chromaCount)
        }
    }
}
