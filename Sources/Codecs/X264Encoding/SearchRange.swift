/// How far the library looks for motion: in a film, whose grain has nothing that fits, the way beyond a few samples only
/// costs time (a twelfth) and bytes (a thirtieth); a text in motion may have jumped further.
struct SearchRange {
    /// Samples to each side.
    private(set) var samples = SearchRange.far

    static let far = 16
    static let near = 4

    private var cost = 0.0
    // Bytes for each coded macroblock that say "film" and "no film"; between them it stays as it is.
    private static let film = 6.3
    private static let text = 5.6
    private static let fewest = 512

    /// A picture was coded as a whole; true where the range is another one now.
    mutating func coded(macroblocks: Int, byteCount: Int) -> Bool {
        guard macroblocks >= Self.fewest else { return false }
        // A page that turns is dear once: some pictures have to agree.
        cost += (min(Double(byteCount) / Double(macroblocks), 2 * Self.film) - cost) * 0.06
        let wanted = cost >= Self.film ? Self.near : cost <= Self.text ? Self.far : samples
        defer { samples = wanted }
        return wanted != samples
    }
}
