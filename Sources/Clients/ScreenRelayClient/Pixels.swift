import ColorConversion
public import MediaTypes

extension I420Picture {
    /// The most bytes from one row to the next.
    private static let maxStride = 1 << 20
    private static let sides = 1...16_384

    /// Converts a picture of four bytes a pixel: blue, green, red and one that has no meaning. The result is in BT.601
    /// with limited range.
    ///
    /// - Parameters:
    ///   - pixels: the rows from the top, read during the call.
    ///   - stride: the bytes from one row to the next.
    /// - Returns: nil if a side isn't one of 1 to 16,384 pixels, or if the rows are shorter than that needs.
    public init?(
        bgrx pixels: UnsafeRawBufferPointer, stride: Int, size: PictureSize, captureTime: MonotonicTime? = nil
    ) {
        guard Self.fits(pixels, stride: stride, rowByteCount: size.width, times: 4, rows: size.height),
            Self.sides.contains(size.width), Self.sides.contains(size.height), let source = pixels.baseAddress
        else { return nil }
        let chromaWidth = (size.width + 1) / 2
        let (luma, chroma) = (size.width * size.height, chromaWidth * ((size.height + 1) / 2))
        var bytes = [UInt8](repeating: 0, count: luma + 2 * chroma)
        let isConverted = bytes.withUnsafeMutableBufferPointer { planes in
            guard let base = planes.baseAddress else { return false }
            return ScreenToPlanes.convert(
                source, stride: stride, format: .bgrx,
                rectangle: PixelRectangle(x: 0, y: 0, width: size.width, height: size.height),
                into: ScreenToPlanes.Destination(
                    luma: base, blueDifference: base + luma, redDifference: base + luma + chroma,
                    lumaStride: size.width, chromaStride: chromaWidth, size: size))
        }
        guard isConverted else { return nil }
        self.init(size: size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: captureTime)
    }

    /// Copies a picture whose planes have padding, as those of cameras and decoders.
    ///
    /// - Parameters:
    ///   - luma: the rows of Y from the top, read during the call, as are those of Cb and Cr.
    ///   - lumaStride: the bytes from one row of Y to the next.
    ///   - chromaStride: the bytes from one row of Cb, or of Cr, to the next.
    /// - Returns: nil if a side isn't one of 1 to 16,384 pixels, or if a plane is smaller than that needs.
    public init?(
        luma: UnsafeRawBufferPointer, blueDifference: UnsafeRawBufferPointer, redDifference: UnsafeRawBufferPointer,
        lumaStride: Int, chromaStride: Int, size: PictureSize, isFullRange: Bool = false,
        matrix: ColorMatrix = .bt601, captureTime: MonotonicTime? = nil
    ) {
        guard Self.sides.contains(size.width), Self.sides.contains(size.height) else { return nil }
        let (chromaWidth, chromaHeight) = ((size.width + 1) / 2, (size.height + 1) / 2)
        guard
            Self.fits(luma, stride: lumaStride, rowByteCount: size.width, rows: size.height),
            Self.fits(blueDifference, stride: chromaStride, rowByteCount: chromaWidth, rows: chromaHeight),
            Self.fits(redDifference, stride: chromaStride, rowByteCount: chromaWidth, rows: chromaHeight)
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size.width * size.height + 2 * chromaWidth * chromaHeight)
        for (plane, stride, width, height) in [
            (luma, lumaStride, size.width, size.height), (blueDifference, chromaStride, chromaWidth, chromaHeight),
            (redDifference, chromaStride, chromaWidth, chromaHeight),
        ] {
            for row in 0..<height { bytes += plane[row * stride..<row * stride + width] }
        }
        self.init(size: size, bytes: bytes, isFullRange: isFullRange, matrix: matrix, captureTime: captureTime)
    }

    /// The picture with four bytes a pixel (blue, green, red and one that has no meaning), row by row without padding,
    /// converted with the matrix and the range that the picture specifies. Nil if its planes don't fit its size.
    public func bgrx() -> [UInt8]? {
        guard size.width > 0, size.height > 0, size.width <= Self.sides.upperBound,
            size.height <= Self.sides.upperBound
        else { return nil }
        var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
        let isConverted = pixels.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { I420ToBGRX.write(self, to: $0, stride: size.width * 4) } ?? false
        }
        return isConverted ? pixels : nil
    }

    /// Whether `bytes` has `rows` rows of so many bytes.
    private static func fits(
        _ bytes: UnsafeRawBufferPointer, stride: Int, rowByteCount: Int, times factor: Int = 1, rows: Int
    ) -> Bool {
        guard sides.contains(rowByteCount), sides.contains(rows), stride <= maxStride,
            stride >= rowByteCount * factor
        else { return false }
        return bytes.count >= (rows - 1) * stride + rowByteCount * factor
    }
}
