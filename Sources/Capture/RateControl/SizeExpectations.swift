import MediaTypes

/// What is expected of each sort of picture.
struct SizeExpectations: Sendable {
    /// What a picture of a flowing motion costs of one that shows something new, before it is known better.
    private static let flowShare = 0.03
    private static let jumpShare = 0.85
    private static let flowLasts = Interval.seconds(2)

    typealias Extent = MotionHistory.Extent

    /// For each sort a start from recorded pictures of text, 1920x1080.
    private var idr = SizeExpectation(bytesAt28: 20)
    private(set) var refinement = SizeExpectation(bytesAt28: 11)
    private var small = SizeExpectation(bytesAt28: 30)
    private var medium = SizeExpectation(bytesAt28: 15)
    private var largeJump = SizeExpectation(bytesAt28: 14)
    private var largeFlow = SizeExpectation(bytesAt28: 2)
    private var lastFlow: MonotonicTime?
    private var lastJump: MonotonicTime?

    /// Whether close pictures of a large motion are hardly cheaper than those far apart: something like a film.
    var isFilm: Bool { lastFlow != nil && largeFlow.usual > largeJump.usual * 0.5 }

    func of(_ kind: PictureKind, isFlow: Bool, _ macroblocks: Int) -> SizeExpectation {
        switch kind {
        case .idr: return idr
        case .refinement: return refinement
        case .change:
            switch Extent(macroblocks) {
            case .small: return small
            case .medium: return medium
            case .large: return isFlow ? largeFlow : largeJump
            }
        }
    }

    mutating func learn(
        _ kind: PictureKind, isFlow: Bool, macroblocks: Int, quantizer: Int, bytes: Double, now: MonotonicTime
    ) {
        switch kind {
        case .idr:
            idr.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            // A page that jumps costs about what it costs without prediction.
            if lastJump == nil { largeJump.expect(after: idr, part: Self.jumpShare) }
        case .refinement: refinement.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
        case .change:
            switch Extent(macroblocks) {
            case .small: small.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            case .medium: medium.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            case .large where isFlow:
                largeFlow.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
                lastFlow = now
            case .large:
                lastJump = now
                largeJump.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
                // What was learned of another motion says little of how this one goes on: it is worth a try.
                if lastFlow.map({ now - $0 > Self.flowLasts }) ?? true {
                    largeFlow.expect(after: largeJump, part: Self.flowShare)
                }
            }
        }
    }
}
