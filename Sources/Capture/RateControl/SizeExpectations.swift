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

    /// Cheap pictures of the motion that flows, up to the number that shows that it does.
    private var cheapInARow = 0
    private var lastWasDear = false

    /// Whether close pictures of a large motion are hardly cheaper than those far apart: something like a film. It is held to
    /// be one until it shows otherwise or has rested.
    private(set) var isFilm = false

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

    /// Learns from a picture; `isFirst` is one after a rest, `wasHeld` one that had
    /// to wait, `isMoved` one that is mostly the picture before, moved. Returns whether it was part of a motion that flows: what was
    /// taken for one may show another page.
    mutating func learn(
        _ kind: PictureKind, isFlow: Bool, isFirst: Bool, wasHeld: Bool, isMoved: Bool, macroblocks: Int,
        quantizer: Int, bytes: Double, now: MonotonicTime
    ) -> Bool {
        // What moves takes next to nothing, and says nothing of what comes next that doesn't.
        if isMoved, !(isFlow && Extent(macroblocks) == .large) { return isFlow }
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
            case .large:
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
        // The first of all is only hoped to be part of a motion.
        if isFlow, !isFirst || bytes < jump * Self.beginsToFlow {
            let isSure = cheapInARow == Self.sureOfFlow && !isFilm
            let page = max(jump, idr.usual(macroblocks, quantizer) / 2)
            let isDear = bytes > page * (isSure ? Self.pageShare : Self.filmShare)
            if isDear, isSure {
                // Another page in the middle of it.
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
        // What was learned of another motion says little of how this one goes on: it is worth a try.
        if isFirst, lastFlow.map({ now - $0 > Self.flowLasts }) ?? true {
            isFilm = false
            largeFlow.expect(after: largeJump, part: Self.flowShare)
        }
        // A motion that starts slowly shows hardly anything new: its first picture tells nothing of a page's cost.
        if isFirst, !wasHeld, bytes < jump * Self.beginsToFlow { return true }
        lastJump = now
        // Where hardly anything changed in a large area, it says nothing either.
        if !isFilm, bytes < jump / 2 || bytes > jump * 2, bytes > jump * Self.beginsToFlow {
            largeJump.correct(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
        } else {
            largeJump.learn(macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
        }
        return false
    }

    /// In a film a close picture costs more than this part of one far apart: in a moving text it is a tenth at the most, but
    /// for the first after a coarse one.
    private static let filmShare = 0.25
    /// In a motion that flows one that costs so much shows another page.
    private static let pageShare = 0.5
    private static let beginsToFlow = 0.15
    /// After so many cheap pictures in a row it is no film.
    private static let sureOfFlow = 3
}
