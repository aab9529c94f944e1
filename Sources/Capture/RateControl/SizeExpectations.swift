import MediaTypes

/// What is expected of each sort of picture.
struct SizeExpectations: Sendable {
    typealias Pace = MotionHistory.Pace
    typealias Extent = MotionHistory.Extent

    /// For each sort a start from recorded pictures of text, 1920x1080.
    private var idr = SizeExpectation(bytesAt28: 20)
    private(set) var refinement = SizeExpectation(bytesAt28: 11)
    private var small = SizeExpectation(bytesAt28: 30)
    private var medium = SizeExpectation(bytesAt28: 15)
    private var largeBurst = SizeExpectation(bytesAt28: 14)
    private var largeMotion = SizeExpectation(bytesAt28: 2)

    func of(_ kind: PictureKind, _ pace: Pace, _ macroblocks: Int) -> SizeExpectation {
        switch kind {
        case .idr: return idr
        case .refinement: return refinement
        case .change:
            switch Extent(macroblocks) {
            case .small: return small
            case .medium: return medium
            case .large: return pace == .burst ? largeBurst : largeMotion
            }
        }
    }

    mutating func learn(
        _ kind: PictureKind, _ pace: Pace, macroblocks: Int, quantizer: Int, bytes: Double, now: MonotonicTime
    ) {
        switch kind {
        case .idr: idr.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
        case .refinement: refinement.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
        case .change:
            switch Extent(macroblocks) {
            case .small: small.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            case .medium: medium.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            case .large where pace == .burst:
                largeBurst.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
                // Another scene: it may move as well as have come.
                largeMotion.expect(after: largeBurst, part: 0.15)
            case .large: largeMotion.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            }
        }
    }
}
