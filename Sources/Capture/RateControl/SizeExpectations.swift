import MediaTypes

/// The size estimates for each sort of picture.
struct SizeExpectations: Sendable {
    /// The first estimates: a picture in a flowing motion costs this share of a jump (a picture that shows something
    /// new), and a jump costs this share of a key frame.
    private static let flowShare = 0.03
    private static let jumpShare = 0.85
    private static let flowLasts = Interval.seconds(2)

    typealias Extent = MotionHistory.Extent

    /// The initial estimate for each sort, from recorded pictures of text at 1920x1080.
    private var keyFrame = SizeExpectation(bytesAt28: 20)
    private(set) var refinement = SizeExpectation(bytesAt28: 11)
    private var small = SizeExpectation(bytesAt28: 30)
    private var medium = SizeExpectation(bytesAt28: 15)
    private var largeJump = SizeExpectation(bytesAt28: 14)
    private var largeFlow = SizeExpectation(bytesAt28: 2)
    private var lastFlow: MonotonicTime?
    private var lastJump: MonotonicTime?

    /// The number of cheap pictures in a row in a motion, counted up to `sureOfFlow`.
    private var cheapInARow = 0
    private var lastWasDear = false

    /// Whether pictures of a large motion that are close together cost hardly less than those far apart, as in a film.
    /// A motion that was found to be a film remains one until it shows otherwise or has rested.
    private(set) var isFilm = false

    func of(_ kind: PictureKind, isFlow: Bool, _ macroblocks: Int) -> SizeExpectation {
        switch kind {
        case .keyFrame: return keyFrame
        case .refinement: return refinement
        case .change:
            switch Extent(macroblocks) {
            case .small: return small
            case .medium: return medium
            case .large: return isFlow ? largeFlow : largeJump
            }
        }
    }

    /// Learns from a picture. `isFirst` marks the first after a rest, `wasHeld` one that had to wait, `isMoved` one
    /// that is mostly the previous picture, moved, and `isVideo` one whose area has kept changing for long.
    ///
    /// - Returns: Whether the picture was part of a flowing motion. A picture that was taken for such a part may turn
    ///   out to show a new page.
    mutating func learn(
        _ kind: PictureKind, isFlow: Bool, isFirst: Bool, wasHeld: Bool, isMoved: Bool, isVideo: Bool,
        macroblocks: Int, quantizer: Int, bytes: Double, now: MonotonicTime
    ) -> Bool {
        // A moved picture costs next to nothing, and says nothing about the next one that isn't moved.
        if isMoved, !(isFlow && Extent(macroblocks) == .large) { return isFlow }
        switch kind {
        case .keyFrame:
            keyFrame.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            // A page that jumps costs about as much as it does without prediction.
            if lastJump == nil { largeJump.expect(after: keyFrame, part: Self.jumpShare) }
        case .refinement: refinement.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
        case .change:
            switch Extent(macroblocks) {
            case .small: small.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            case .medium: medium.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            case .large:
                // A film that goes on remains one, however little its coarse pictures cost.
                if isFilm, isVideo, !isFirst {
                    lastFlow = now
                    largeJump.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
                    return false
                }
                return learnLarge(
                    isFlow: isFlow, isFirst: isFirst, wasHeld: wasHeld, macroblocks: macroblocks, quantizer: quantizer,
                    bytes: bytes, now)
            }
        }
        return false
    }

    private mutating func learnLarge(
        isFlow: Bool, isFirst: Bool, wasHeld: Bool, macroblocks: Int, quantizer: Int, bytes: Double,
        _ now: MonotonicTime
    ) -> Bool {
        let jump = largeJump.usual(macroblocks, quantizer)
        // The first picture after a rest is only assumed to be part of a motion.
        if isFlow, !isFirst || bytes < jump * Self.beginsToFlow {
            let isSure = cheapInARow == Self.sureOfFlow && !isFilm
            let page = max(jump, keyFrame.usual(macroblocks, quantizer) / 2)
            let isDear = bytes > page * (isSure ? Self.pageShare : Self.filmShare)
            if isDear, isSure {
                // The picture shows a new page in the middle of the motion.
                cheapInARow = 0
                lastJump = now
                largeJump.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
                return false
            }
            lastFlow = now
            cheapInARow = isDear ? 0 : min(cheapInARow + 1, Self.sureOfFlow)
            let wasDear = lastWasDear
            lastWasDear = isDear
            if isDear, !isFilm, wasDear || bytes > page * Self.pageShare {
                isFilm = true
                largeJump.correct(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            } else if isDear, isFilm {
                largeJump.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            } else if !isFilm {
                largeFlow.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            } else if cheapInARow == Self.sureOfFlow {
                isFilm = false
                largeFlow.correct(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
            }
            return true
        }
        cheapInARow = 0
        lastWasDear = false
        // What was learned from another motion says little about this one, so try to let it flow.
        if isFirst, lastFlow.map({ now - $0 > Self.flowLasts }) ?? true {
            isFilm = false
            largeFlow.expect(after: largeJump, part: Self.flowShare)
        }
        // A motion that starts slowly shows hardly anything new, so its first picture says nothing about the cost of a
        // page.
        if isFirst, !wasHeld, bytes < jump * Self.beginsToFlow { return true }
        lastJump = now
        // A picture in which hardly anything changed in a large area is no reason to correct the estimate either.
        if !isFilm, bytes < jump / 2 || bytes > jump * 2, bytes > jump * Self.beginsToFlow {
            largeJump.correct(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
        } else {
            largeJump.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
        }
        return false
    }

    /// In a film, a picture close to the previous one costs more than this share of one far apart. In moving text, it
    /// costs a tenth at most, except for the first one after a coarse picture.
    private static let filmShare = 0.25
    /// In a flowing motion, a picture that costs more than this share of a page shows a new page.
    private static let pageShare = 0.5
    private static let beginsToFlow = 0.15
    /// After this many cheap pictures in a row, the motion is not a film.
    private static let sureOfFlow = 3
}
