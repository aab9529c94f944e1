/// Decides whether pictures with many changes are encoded in bands or as a whole, from the measured cost of both.
///
/// Bands save the library's time for rows that don't change, but a band's motion search can't see how its surroundings
/// moved before. For scrolling text, bands take two or three times as many bytes; for video, hardly more than the whole
/// picture. The decision is tested from time to time by encoding a few pictures the other way.
struct BandChoice {
    private(set) var prefersBands = false
    /// The mean bytes per coded macroblock in the last block of pictures that were encoded the preferred way.
    private var usual: Double?
    /// The sum of bytes per coded macroblock in the current block or trial, and the number of pictures in the sum.
    private var sum = 0.0
    private var counted = 0
    /// The number of pictures since the block or trial began, and the number of blocks since the last trial.
    private var pictures = 0
    private var blocks = 0
    private var isTrying = false
    private var hasTried = false

    /// The bytes per coded macroblock above which few macroblocks are predicted well.
    private static let expensive = 6.0
    /// The factor by which bands may be more expensive.
    private static let tolerance = 1.03
    /// The number of pictures in a block and in a trial. The first few don't count, because their prediction starts
    /// from old data.
    private static let block = 24
    private static let trial = 15
    private static let uncounted = 4
    /// The number of blocks between two trials: few while bands could save time, more while bands are in use.
    private static let untilBands = 12
    private static let untilWhole = 24

    /// Whether the next picture should be encoded in bands.
    var usesBands: Bool { isTrying ? !prefersBands : prefersBands }

    /// Records the cost of a picture that was encoded the current way.
    mutating func coded(macroblocks: Int, byteCount: Int) {
        guard macroblocks > 0 else { return }
        pictures += 1
        if pictures > Self.uncounted {
            sum += max(0.1, Double(byteCount) / Double(macroblocks))
            counted += 1
        }
        guard pictures >= (isTrying ? Self.trial : Self.block) || isHopeless else { return }
        let mean = sum / Double(max(1, counted))
        (sum, counted, pictures) = (0, 0, 0)
        if isTrying {
            isTrying = false
            blocks = 0
            guard let usual else { return }
            let (bands, whole) = prefersBands ? (usual, mean) : (mean, usual)
            prefersBands = bands <= whole * Self.tolerance
            return
        }
        usual = mean
        blocks += 1
        // Moving text is predicted well as a whole, which bands can't do, so a trial is useless.
        guard prefersBands || mean >= Self.expensive else { return }
        guard blocks >= (prefersBands ? Self.untilWhole : hasTried ? Self.untilBands : 1) else { return }
        isTrying = true
        hasTried = true
    }

    /// Whether the trial has already shown that the other way costs far more.
    private var isHopeless: Bool {
        guard isTrying, counted >= 3, let usual else { return false }
        return sum / Double(counted) > usual * 1.5
    }
}
