public import MediaTypes

/// How much memory a capture process may use before it is ended and restarted.
public enum CaptureMemory: Sendable, Equatable {
    /// More than twice the highest memory use that was measured for pictures of this size.
    case bySize(CaptureMemoryExpectation)
    /// This many bytes.
    case bytes(UInt64)
    /// No limit.
    case unlimited

    /// The limit in bytes for pictures of this size, or for an unknown size if `size` is nil. Returns nil if there is
    /// no limit.
    public func ceiling(for size: PictureSize?) -> UInt64? {
        switch self {
        case .bySize(let expectation): expectation.ceiling(for: size)
        case .bytes(let count): count
        case .unlimited: nil
        }
    }

    /// The highest value that ``ceiling(for:)`` returns, or nil if there is no limit.
    var highestCeiling: UInt64? { ceiling(for: nil) }
}

/// What affects a capture's memory use, besides the size of its pictures.
public struct CaptureMemoryExpectation: Sendable, Equatable {
    /// Whether it may send 4:4:4.
    public var hasFullChroma = false
    /// The lowest number of pixels that the capture reads, whatever the size of its pictures. A capture that scales
    /// down reads more than it sends.
    public var minPixels = 0
    /// The number of pixels read for each pixel sent.
    public var pixelsReadForOneSent = 1.0

    /// The expectation for a capture in 4:2:0 that sends every pixel that it reads.
    public init() {}

    /// The largest screen that is expected: 7680x4320.
    private static let maxPixels = 7680 * 4320
    /// Measured peaks (VmHWM, most demanding scene): 37.1 MB at 1280x720, 41.3 at 1920x1080, 73.5 at 3840x2160; in
    /// 4:4:4 41.2, 49.2 and 97.6.
    private static let base = 40_000_000
    private static let bytesForPixel = (halfChroma: 30, fullChroma: 45)

    func ceiling(for size: PictureSize?) -> UInt64 {
        var pixels = Self.maxPixels
        if let size {
            let read = Double(size.width) * Double(size.height) * max(1, pixelsReadForOneSent)
            pixels = max(minPixels, read < Double(Self.maxPixels) ? Int(read) : Self.maxPixels)
        }
        let each = hasFullChroma ? Self.bytesForPixel.fullChroma : Self.bytesForPixel.halfChroma
        return UInt64(clamping: Self.base + min(pixels, Self.maxPixels) * each)
    }
}
