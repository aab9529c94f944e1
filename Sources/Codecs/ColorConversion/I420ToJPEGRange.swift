import CYUV
public import MediaTypes

/// Converts pictures to the only colours that a JPEG file can hold: BT.601 in full range (JFIF 1.02, "colour space").
public enum I420ToJPEGRange {
    /// The converted picture, or the picture itself if it already has those colours. Nil if its planes don't fit its
    /// size.
    public static func convert(_ picture: I420Picture) -> I420Picture? {
        guard picture.isWhole else { return nil }
        if picture.matrix == .bt601 { return picture.inFullRange() }
        let picture = picture.forConversion()
        let (width, height) = (picture.size.width, picture.size.height)
        let chromaWidth = Int32(picture.chromaWidth)
        // Two rows at a time, so that the RGB data in between stays in the cache and a 4K picture doesn't need 33 MB
        // for it.
        var pixels = [UInt8](repeating: 0, count: width * 4 * 2)
        var converted = [UInt8](repeating: 0, count: picture.bytes.count)
        for row in stride(from: 0, to: height, by: 2) {
            let rows = Int32(min(2, height - row))
            let lumaStart = row * width
            let chromaStart = row / 2 * picture.chromaWidth
            let toRGB = picture.withPlanes { luma, blueDifference, redDifference in
                I420ToARGBMatrix(
                    luma + lumaStart, Int32(width), blueDifference + chromaStart, chromaWidth,
                    redDifference + chromaStart, chromaWidth, &pixels, Int32(width * 4), shim_yuv_709_full(),
                    Int32(width), rows)
            }
            let toJPEG = converted.withUnsafeMutableBufferPointer { all -> Int32 in
                guard let luma = all.baseAddress else { return -1 }
                let blueDifference = luma + picture.lumaCount
                let redDifference = blueDifference + picture.chromaCount
                return ARGBToJ420(
                    pixels, Int32(width * 4), luma + lumaStart, Int32(width), blueDifference + chromaStart,
                    chromaWidth, redDifference + chromaStart, chromaWidth, Int32(width), rows)
            }
            if toRGB != 0 || toJPEG != 0 { return nil }
        }
        return I420Picture(
            size: picture.size, bytes: converted, isFullRange: true, matrix: .bt601, captureTime: picture.captureTime)
    }
}
