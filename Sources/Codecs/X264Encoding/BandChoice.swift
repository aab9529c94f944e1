/// Whether pictures of which a good part changes are made of bands or as a whole, by what both turned out to cost.
///
/// Bands save the library's time for the rows that don't change, but a band knows nothing of how its surroundings moved
/// before: of a text that scrolls it makes two or three times the bytes, of a film hardly more than the whole. So the other
/// way is tried now and then for a few pictures.
struct BandChoice {
    private(set) var prefersBands = false
    /// Bytes for each coded macroblock on average, in the last block of pictures of the way that is used.
    private var usual: Double?
    /// The same of the block that goes on, or of the trial: a sum, and how many pictures are in it.
    private var sum = 0.0
    private var counted = 0
    /// Pictures since the block or the trial began, and blocks since the last trial.
    private var pictures = 0
    private var blocks = 0
    private var isTrying = false
    private var hasTried = false

    /// Bytes for each coded macroblock, from which on most of them are anything but predicted from their surroundings.
    private static let dear = 6.0
    /// Bands may cost so much more.
    private static let tolerance = 1.03
    /// Pictures of a block and of a trial; the first ones are predicted from what this way left behind long ago, and don't count.
    private static let block = 24
    private static let trial = 15
    private static let uncounted = 4
    /// Blocks between two trials: soon where bands could save time, seldom where they do.
    private static let untilBands = 12
    private static let untilWhole = 24

    /// Whether the next picture is to be made of bands.
    var usesBands: Bool { isTrying ? !prefersBands : prefersBands }

    /// A picture was coded so.
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
        // A text in motion is predicted well, which bands can't: no use in trying.
        guard prefersBands || mean >= Self.dear else { return }
        guard blocks >= (prefersBands ? Self.untilWhole : hasTried ? Self.untilBands : 1) else { return }
        isTrying = true
        hasTried = true
    }

    /// Whether a trial has shown already that the other way costs far more.
    private var isHopeless: Bool {
        guard isTrying, counted >= 3, let usual else { return false }
        return sum / Double(counted) > usual * 1.5
    }
}
