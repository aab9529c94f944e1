/// The range of x264's motion search. For video with film grain, searching beyond a few samples finds nothing and costs
/// time (a twelfth) and bytes (a thirtieth); moving text may have jumped further.
public struct SearchRange {
    /// The range in samples in each direction.
    private(set) var samples = SearchRange.far

    /// For pictures that show 15 lines of a scrolled text more than those before.
    public static let farthest = 512
    public static let far = 16
    static let near = 4

    private var cost = 0.0
    // The bytes per coded macroblock that indicate video and text. Between them, the range doesn't change.
    private static let film = 6.3
    private static let text = 5.6
    private static let fewest = 512
    // Beyond this quantizer, only video is encoded for long. Motion from afar costs it more bits than what is left of
    // its differences: a fourteenth of all of them.
    private static let coarse = 40

    /// Records a picture that was encoded as a whole; returns true if the range has changed.
    mutating func coded(macroblocks: Int, byteCount: Int, quantizer: Int) -> Bool {
        guard macroblocks >= Self.fewest else { return false }
        let new = quantizer > Self.coarse ? .infinity : Double(byteCount) / Double(macroblocks)
        // A page change is expensive once, so the average over several pictures decides.
        cost += (min(new, 2 * Self.film) - cost) * 0.06
        let wanted = cost >= Self.film ? Self.near : cost <= Self.text ? Self.far : samples
        defer { samples = wanted }
        return wanted != samples
    }
}
