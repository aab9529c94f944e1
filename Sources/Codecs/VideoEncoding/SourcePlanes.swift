/// The three planes of a source picture. The caller owns the memory.
public struct SourcePlanes {
    /// Y.
    public var luma: UnsafePointer<UInt8>
    /// Cb, or Cb and Cr interleaved if `isInterleaved` is true.
    public var blueDifference: UnsafePointer<UInt8>
    /// Cr.
    public var redDifference: UnsafePointer<UInt8>
    /// The number of bytes from one luma row to the next.
    public var lumaStride: Int
    /// The number of bytes from one chroma row to the next.
    public var chromaStride: Int
    /// Whether the first chroma plane holds both components (NV12).
    public var isInterleaved = false

    /// Creates planes at these addresses.
    public init(
        luma: UnsafePointer<UInt8>, blueDifference: UnsafePointer<UInt8>, redDifference: UnsafePointer<UInt8>,
        lumaStride: Int, chromaStride: Int
    ) {
        self.luma = luma
        self.blueDifference = blueDifference
        self.redDifference = redDifference
        self.lumaStride = lumaStride
        self.chromaStride = chromaStride
    }
}
