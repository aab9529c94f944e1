/// Whether pictures of which a good part changes are made of bands or as a whole, by what both turned out to cost.
///
/// Bands save the library's time for the rows that don't change, but a band knows nothing of how its surroundings moved
/// before: of a text that scrolls it makes two or three times the bytes, of a film hardly more than the whole. So the other
/// way is tried now and then for a few pictures.
struct BandChoice {
    private(set) var prefersBands = false
    /// Bytes for each coded macroblock: of the way that is used, averaged over some dozens of pictures, and the sum of those
    /// of a trial.
    private var usual: Double?
    private var tried = 0.0
    /// Pictures since the last trial ended, or of the trial that goes on.
    private var pictures = 0
    private var isTrying = false

    /// Bands may cost so much more.
    private static let tolerance = 1.03
    /// Pictures of a trial; the first ones are predicted from what the way in question left behind long ago, and don't count.
    private static let trial = 15
    private static let uncounted = 3
    /// Pictures between two trials: soon where bands could save time, seldom where they do.
    private static let untilBands = 300
    private static let untilWhole = 600
    private static let untilFirst = 30

    private var hasTried = false

    /// Whether the next picture is to be made of bands.
    var usesBands: Bool { isTrying ? !prefersBands : prefersBands }

    /// A picture was coded so.
    mutating func coded(macroblocks: Int, byteCount: Int) {
        guard macroblocks > 0 else { return }
        let cost = max(0.1, Double(byteCount) / Double(macroblocks))
        pictures += 1
        if isTrying {
            if pictures > Self.uncounted { tried += cost }
            if pictures >= Self.trial { endTrial() }
            return
        }
        usual = usual.map { $0 + (cost - $0) * 0.06 } ?? cost
        let limit = prefersBands ? Self.untilWhole : hasTried ? Self.untilBands : Self.untilFirst
        guard pictures >= limit else { return }
        isTrying = true
        hasTried = true
        tried = 0
        pictures = 0
    }

    /// An IDR picture: what comes now may be something else altogether.
    mutating func reset() { self = BandChoice() }

    private mutating func endTrial() {
        isTrying = false
        pictures = 0
        guard let usual else { return }
        let tried = tried / Double(Self.trial - Self.uncounted)
        let (bands, whole) = prefersBands ? (usual, tried) : (tried, usual)
        let isBetter = bands <= whole * Self.tolerance
        if isBetter != prefersBands { self.usual = tried }
        prefersBands = isBetter
    }
}
