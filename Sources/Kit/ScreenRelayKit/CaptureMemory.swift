public import MediaTypes

/// How much memory a capture process may take before it is ended and started again.
public enum CaptureMemory: Sendable, Equatable {
    /// More than twice what the dearest pictures of this size were measured to take.
    case bySize(CaptureMemoryExpectation)
    /// So many bytes.
    case bytes(UInt64)
    /// No ceiling.
    case unlimited

    /// The ceiling in bytes once the pictures' size is known, and before that; nil where there is none.
    public func ceiling(for size: PictureSize?) -> UInt64? {
        switch self {
        case .bySize(let expectation): expectation.ceiling(for: size)
        case .bytes(let count): count
        case .unlimited: nil
        }
    }

    /// The most that ``ceiling(for:)`` gives; nil where there is none.
    var highestCeiling: UInt64? { ceiling(for: nil) }
}

/// What is known of a capture beside its pictures' size, and counts for the memory that it takes.
public struct CaptureMemoryExpectation: Sendable, Equatable {
    /// Whether it may send 4:4:4.
    public var hasFullChroma = false
    /// The least number of pixels that it reads, whatever the size of its pictures: a scaled one reads more than it sends.
    public var leastPixels = 0
    /// How many times as many pixels it reads as it sends.
    public var pixelsReadForOneSent = 1.0

    /// A capture in 4:2:0 that sends what it reads.
    public init() {}

    /// The largest screen that is expected: 7680x4320.
    private static let mostPixels = 7680 * 4320
    /// Measured (VmHWM, dearest scene): 27.7 MB at 1280x720, 44.3 at 1920x1080, 96.4 at 3840x2160; in 4:4:4 37.7, 61.3 and 166.3.
    private static let base = 40_000_000
    private static let bytesForPixel = (halfChroma: 30, fullChroma: 45)

    func ceiling(for size: PictureSize?) -> UInt64 {
        var pixels = Self.mostPixels
        if let size {
            let read = Double(size.width) * Double(size.height) * max(1, pixelsReadForOneSent)
            pixels = max(leastPixels, read < Double(Self.mostPixels) ? Int(read) : Self.mostPixels)
        }
        let each = hasFullChroma ? Self.bytesForPixel.fullChroma : Self.bytesForPixel.halfChroma
        return UInt64(clamping: Self.base + min(pixels, Self.mostPixels) * each)
    }
}
