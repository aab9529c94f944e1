import CYUV
public import MediaTypes

/// Brings pictures to another size.
public enum PictureScaling {
    /// Scales `picture` to `size`, whose sides must be even: with black bars where the proportions differ, or, if
    /// `crops` is true, without the source's edges.
    ///
    /// - Returns: nil if the picture's planes don't fit its size, or if a side is less than two pixels.
    public static func scale(_ picture: I420Picture, to size: PictureSize, crops: Bool) -> I420Picture? {
        guard picture.isWhole, size.width >= 2, size.height >= 2, size.width % 2 == 0, size.height % 2 == 0,
            picture.size.width >= 2, picture.size.height >= 2
        else { return nil }
        if picture.size == size { return picture }
        let (source, target) = places(from: picture.size, to: size, crops: crops)
        return scale(picture, source, to: size, target)
    }

    /// Scales `picture` to half of its sides, or up to two pixels more, as they must be even. Nothing is cut off, and
    /// there are no bars.
    ///
    /// - Returns: nil if the picture's planes don't fit its size, or if a side is less than four pixels.
    public static func halve(_ picture: I420Picture) -> I420Picture? {
        guard picture.isWhole, picture.size.width >= 4, picture.size.height >= 4 else { return nil }
        let half = PictureSize(width: (picture.size.width + 3) / 4 * 2, height: (picture.size.height + 3) / 4 * 2)
        return scale(picture, picture.size.whole, to: half, half.whole)
    }

    /// Scales the rectangle `source` of `picture` to `target` in a black picture of `size`.
    private static func scale(
        _ picture: I420Picture, _ source: PixelRectangle, to size: PictureSize, _ target: PixelRectangle
    ) -> I420Picture? {
        let lumaCount = size.width * size.height
        let black: UInt8 = picture.isFullRange ? 0 : 16
        var bytes = [UInt8](repeating: 128, count: lumaCount * 3 / 2)
        let code = bytes.withUnsafeMutableBufferPointer { all -> Int32 in
            guard let luma = all.baseAddress else { return -1 }
            if target.width < size.width || target.height < size.height {
                luma.update(repeating: black, count: lumaCount)
            }
            let chromaWidth = size.width / 2
            let chromaStart = target.y / 2 * chromaWidth + target.x / 2
            let sourceChroma = source.y / 2 * picture.chromaWidth + source.x / 2
            return picture.withPlanes { sourceLuma, blueDifference, redDifference in
                I420Scale(
                    sourceLuma + source.y * picture.size.width + source.x, Int32(picture.size.width),
                    blueDifference + sourceChroma, Int32(picture.chromaWidth), redDifference + sourceChroma,
                    Int32(picture.chromaWidth), Int32(source.width), Int32(source.height),
                    luma + target.y * size.width + target.x, Int32(size.width), luma + lumaCount + chromaStart,
                    Int32(chromaWidth), luma + lumaCount * 5 / 4 + chromaStart, Int32(chromaWidth),
                    Int32(target.width), Int32(target.height), kFilterBox)
            }
        }
        guard code == 0 else { return nil }
        return I420Picture(
            size: size, bytes: bytes, isFullRange: picture.isFullRange, matrix: picture.matrix,
            captureTime: picture.captureTime)
    }

    /// The part of the source that is shown, and where in the output; all at even places, as 4:2:0 needs.
    private static func places(
        from source: PictureSize, to target: PictureSize, crops: Bool
    ) -> (source: PixelRectangle, target: PixelRectangle) {
        // Compares the proportions without rounding.
        let isWider = source.width * target.height > target.width * source.height
        if crops {
            return (
                isWider
                    ? centred(in: source, width: source.height * target.width / target.height, height: source.height)
                    : centred(in: source, width: source.width, height: source.width * target.height / target.width),
                target.whole
            )
        }
        return (
            source.whole,
            isWider
                ? centred(in: target, width: target.width, height: target.width * source.height / source.width)
                : centred(in: target, width: target.height * source.width / source.height, height: target.height)
        )
    }

    private static func centred(in size: PictureSize, width: Int, height: Int) -> PixelRectangle {
        let (width, height) = (max(2, width & ~1), max(2, height & ~1))
        return PixelRectangle(
            x: max(0, size.width - width) / 2 & ~1, y: max(0, size.height - height) / 2 & ~1,
            width: min(width, size.width), height: min(height, size.height))
    }
}
