/// A decoded picture: planar YCbCr 4:2:0 with eight bits a sample. The planes follow one another without padding.
///
/// The luma plane has `size.width` x `size.height` samples, each chroma plane ((width + 1) / 2) x ((height + 1) / 2).
public struct I420Picture: Sendable {
    /// The visible size in pixels.
    public let size: PictureSize
    /// Y, then Cb, then Cr.
    public private(set) var bytes: [UInt8]
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

    /// The planes, in their order.
    public enum Plane: Sendable {
        /// Y.
        case luma
        /// Cb.
        case blueDifference
        /// Cr.
        case redDifference
    }

    /// The sample of a plane in this column and row, counted from the top left corner. Outside the plane it is 0, and
    /// setting it does nothing. Setting one copies the planes only if another picture has the same memory.
    public subscript(plane: Plane, column: Int, row: Int) -> UInt8 {
        get { index(plane, column, row).map { bytes[$0] } ?? 0 }
        set { if let index = index(plane, column, row) { bytes[index] = newValue } }
    }

    private func index(_ plane: Plane, _ column: Int, _ row: Int) -> Int? {
        let (width, height) = plane == .luma ? (size.width, size.height) : (chromaWidth, chromaHeight)
        guard column >= 0, row >= 0, column < width, row < height else { return nil }
        let start =
            switch plane {
            case .luma: 0
            case .blueDifference: lumaCount
            case .redDifference: lumaCount + chromaCount
            }
        let index = start + row * width + column
        return index < bytes.count ? index : nil
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
