import CYUV
public import MediaTypes

/// Turns pictures that were taken with a camera on its side.
public enum PictureRotation {
    /// Turns `picture` clockwise by so many quarters of a turn, of which whole turns don't count.
    ///
    /// - Returns: nil if the picture's planes don't fit its size.
    public static func turn(_ picture: I420Picture, quarters: Int) -> I420Picture? {
        let quarters = (quarters % 4 + 4) % 4
        guard picture.isWhole else { return nil }
        if quarters == 0 { return picture }
        let (width, height) = (picture.size.width, picture.size.height)
        let size = quarters == 2 ? picture.size : PictureSize(width: height, height: width)
        let chromaWidth = (size.width + 1) / 2
        var bytes = [UInt8](repeating: 0, count: picture.bytes.count)
        let mode = [kRotate90, kRotate180, kRotate270][quarters - 1]
        let code = bytes.withUnsafeMutableBufferPointer { all -> Int32 in
            guard let luma = all.baseAddress else { return -1 }
            let blueDifference = luma + picture.lumaCount
            return picture.withPlanes { sourceLuma, sourceBlue, sourceRed in
                I420Rotate(
                    sourceLuma, Int32(width), sourceBlue, Int32(picture.chromaWidth), sourceRed,
                    Int32(picture.chromaWidth), luma, Int32(size.width), blueDifference, Int32(chromaWidth),
                    blueDifference + picture.chromaCount, Int32(chromaWidth), Int32(width), Int32(height), mode)
            }
        }
        guard code == 0 else { return nil }
        return I420Picture(
            size: size, bytes: bytes, isFullRange: picture.isFullRange, matrix: picture.matrix,
            captureTime: picture.captureTime)
    }
}
