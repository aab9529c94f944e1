extension ControlCommand {
    /// A change of a source's highest frame rate and bit rate.
    public struct RateChange: Hashable, Sendable {
        /// The limit in frames per second, 1 to 120. Nil leaves it as it is.
        public let framesPerSecond: Limit?
        /// The limit in bits per second, 10 000 to 1 000 000 000. Nil leaves it as it is.
        public let bitsPerSecond: Limit?

        static let frames = 1...120
        static let bits = 10_000...1_000_000_000

        /// The new value of one limit.
        public enum Limit: Hashable, Sendable {
            /// At most this many.
            case atMost(Int)
            /// As many as the capture was started with.
            case unlimited

            fileprivate func isIn(_ range: ClosedRange<Int>) -> Bool {
                switch self {
                case .atMost(let number): range.contains(number)
                case .unlimited: true
                }
            }
        }

        /// A change of at least one of these limits. Nil if none is given, or one is out of range.
        public init?(framesPerSecond: Limit? = nil, bitsPerSecond: Limit? = nil) {
            guard framesPerSecond != nil || bitsPerSecond != nil,
                framesPerSecond?.isIn(Self.frames) != false, bitsPerSecond?.isIn(Self.bits) != false
            else { return nil }
            self.framesPerSecond = framesPerSecond
            self.bitsPerSecond = bitsPerSecond
        }
    }
}
