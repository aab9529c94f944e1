/// A decoded picture: planar YCbCr 4:2:0 with eight bits a sample. The planes follow one another without padding.
///
/// The luma plane has `size.width` x `size.height` samples, each chroma plane ((width + 1) / 2) x ((height + 1) / 2).
public struct I420Picture: Sendable {
    /// The visible size in pixels.
    public let size: PictureSize
    /// Y, then Cb, then Cr.
    public let bytes: [UInt8]
    /// Whether luma spans 0...255 instead of 16...235.
    public let isFullRange: Bool
    /// The matrix that the colours were converted with.
    public let matrix: ColorMatrix
    /// When the picture was captured, if that is known.
    public let captureTime: MonotonicTime?

    /// Creates a picture over `bytes`, which must hold exactly the three planes of `size`.
    public init(
        size: PictureSize, bytes: [UInt8], isFullRange: Bool, matrix: ColorMatrix, captureTime: MonotonicTime?
    ) {
        self.size = size
        self.bytes = bytes
        self.isFullRange = isFullRange
        self.matrix = matrix
        self.captureTime = captureTime
    }

    /// The number of samples in a row of a chroma plane.
    public var chromaWidth: Int { (size.width + 1) / 2 }
    /// The number of rows of a chroma plane.
    public var chromaHeight: Int { (size.height + 1) / 2 }
    /// The number of samples in the luma plane.
    public var lumaCount: Int { size.width * size.height }
    /// The number of samples in one chroma plane.
    public var chromaCount: Int { chromaWidth * chromaHeight }
}

/// The matrix that converts between RGB and YCbCr (ITU-T H.264 table E-5).
public enum ColorMatrix: Sendable {
    /// ITU-R BT.601 (`matrix_coefficients` 5 and 6).
    case bt601
    /// ITU-R BT.709 (`matrix_coefficients` 1).
    case bt709
}
