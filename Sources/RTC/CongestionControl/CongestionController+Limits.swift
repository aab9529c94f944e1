public import MediaTypes

extension CongestionController {
    /// The bounds of the estimate.
    public struct Limits: Hashable, Sendable {
        /// The first estimate.
        public var initial: BitRate
        /// No path is assumed to carry less.
        public var lowest: BitRate
        /// No path is assumed to carry more.
        public var highest: BitRate

        public init(
            initial: BitRate = BitRate(bitsPerSecond: 1_000_000), lowest: BitRate = BitRate(bitsPerSecond: 100_000),
            highest: BitRate = BitRate(bitsPerSecond: 100_000_000)
        ) {
            self.initial = initial
            self.lowest = lowest
            self.highest = highest
        }
    }
}
