import MediaTypes

/// How many bytes a picture will have, learned from those of its like.
///
/// It remembers what an active macroblock cost at the quantizer that was used last. Bytes fall by 4 to 10 % for each step of
/// the quantizer (recorded: text 3.6 % up to QP 28 and 5 % beyond it, detailed motion 5.7 % and 9.9 %), so what is told for
/// another quantizer leans to the dear side: little is saved by a coarser one, much is spent for a finer one.
struct SizeExpectation: Sendable {
    /// A picture that codes nothing: slice header, skip runs, the NAL unit's frame.
    private static let overhead: Double = 40
    /// The factor for one step finer or coarser, as it is when a quantizer moves, and as it is feared to be.
    private static let step = 1.05
    private static let stepFiner = 1.06
    private static let stepCoarser = 1.04
    private static let margin = 1.2

    private var quantizer: Int
    /// Bytes for each macroblock, on average.
    private(set) var usual: Double
    /// The most that was seen of late; a moving text has such pictures every second or two.
    private var peak: Double
    private var lastLearned: MonotonicTime?
    /// By what part of itself a picture differs from what was expected, on average.
    private var deviation: Double

    /// Before anything is learned: `bytes` for each macroblock at QP 28.
    init(bytesAt28 bytes: Double) {
        quantizer = 28
        usual = bytes
        peak = bytes
        deviation = 0.25
    }

    /// Bytes that a picture will have on average.
    func usual(_ macroblocks: Int, _ quantizer: Int) -> Double {
        Self.overhead + Double(macroblocks) * usual * feared(quantizer)
    }

    /// Bytes that a picture will hardly exceed.
    func most(_ macroblocks: Int, _ quantizer: Int) -> Double {
        return Self.overhead + Double(macroblocks) * most * feared(quantizer)
    }

    /// How many macroblocks will hardly exceed `bytes`.
    func macroblocks(in bytes: Double, quantizer: Int) -> Int {
        let each = most * feared(quantizer)
        return Int(max(0, min((bytes - Self.overhead) / max(each, 0.01), 1e9)))
    }

    /// A picture of `macroblocks` at `quantizer` had `bytes`. Fast to rise, slow to fall.
    mutating func learn(macroblocks: Int, quantizer: Int, bytes: Double, now: MonotonicTime) {
        let factor = Self.power(Self.step, self.quantizer - quantizer)
        usual = min(usual * factor, Self.largest)
        peak = min(peak * factor, Self.largest)
        self.quantizer = quantizer
        let seen = min(max(0.01, (bytes - Self.overhead) / Double(max(macroblocks, 1))), Self.largest)
        let error = min(abs(seen - usual) / usual, 1)
        deviation += (error - deviation) * 0.125
        usual += (seen - usual) * (seen > usual ? 0.25 : 0.15)
        // A rest makes nothing smaller.
        let passed = min(now - (lastLearned ?? now), .seconds(1)).seconds
        lastLearned = now
        peak = max(seen, usual + (peak - usual) / (1 + passed / Self.peakLasts))
    }

    /// What was expected was wrong altogether: from now on it is as that picture of `macroblocks` was.
    mutating func correct(macroblocks: Int, quantizer: Int, bytes: Double, now: MonotonicTime) {
        self.quantizer = quantizer
        usual = min(max(0.01, (bytes - Self.overhead) / Double(max(macroblocks, 1))), Self.largest)
        peak = usual
        deviation = 0.5
        lastLearned = now
    }

    /// It is as good as unknown now, but that it costs a `part` of `other` on average.
    mutating func expect(after other: SizeExpectation, part: Double) {
        quantizer = other.quantizer
        usual = min(other.usual * part, Self.largest)
        peak = usual
        deviation = 0.25
    }

    /// Seconds after which half is left of it.
    private static let peakLasts = 20.0

    /// Bytes for each macroblock that it will hardly exceed at the quantizer that was used last.
    private var most: Double { max(usual * (1 + deviation), peak) * Self.margin }

    /// More than any coder makes of 256 pixels.
    private static let largest: Double = 4_096

    private func feared(_ other: Int) -> Double {
        other < quantizer
            ? Self.power(Self.stepFiner, quantizer - other) : Self.power(Self.stepCoarser, quantizer - other)
    }

    private static func power(_ base: Double, _ exponent: Int) -> Double {
        var result = 1.0
        for _ in 0..<min(abs(exponent), Quantizer.coarsest) { result *= base }
        return exponent < 0 ? 1 / result : result
    }
}
