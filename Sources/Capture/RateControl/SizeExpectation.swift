import MediaTypes

/// Estimates how many bytes a picture will have, from earlier pictures of its sort.
///
/// It remembers what an active macroblock cost at the last quantizer used. Each step up of the quantizer saves between
/// 4 % and 10 % of the bytes (measured: text 3.6 % up to QP 28 and 5 % beyond it, detailed motion 5.7 % and 9.9 %).
/// Estimates for another quantizer are therefore pessimistic: a coarser one is assumed to save little, a finer one to
/// cost much.
struct SizeExpectation: Sendable {
    /// The bytes of a picture that codes nothing: headers, skip runs, framing.
    private static let overhead: Double = 40
    /// The factors for one step of the quantizer: the usual one, and the pessimistic ones for a finer and a coarser
    /// quantizer.
    private static let step = 1.05
    private static let stepFiner = 1.06
    private static let stepCoarser = 1.04
    private static let margin = 1.2

    private var quantizer: Int
    /// Bytes for each macroblock, on average.
    private(set) var usual: Double
    /// The largest cost of a macroblock seen recently; moving text has such pictures every second or two.
    private var peak: Double
    private var lastLearned: MonotonicTime?
    /// The average relative error of the estimate.
    private var deviation: Double

    /// The estimate before anything is learned: `bytes` for each macroblock at QP 28.
    init(bytesAt28 bytes: Double) {
        quantizer = 28
        usual = bytes
        peak = bytes
        deviation = 0.25
    }

    /// The bytes that a picture will have on average.
    func usual(_ macroblocks: Int, _ quantizer: Int) -> Double {
        Self.overhead + Double(macroblocks) * usual * feared(quantizer)
    }

    /// The bytes that a picture will hardly exceed.
    func most(_ macroblocks: Int, _ quantizer: Int) -> Double {
        return Self.overhead + Double(macroblocks) * most * feared(quantizer)
    }

    /// How many macroblocks can be coded at `quantizer` so that they will hardly exceed `bytes`.
    func macroblocks(in bytes: Double, quantizer: Int) -> Int {
        let each = most * feared(quantizer)
        return Int(max(0, min((bytes - Self.overhead) / max(each, 0.01), 1e9)))
    }

    /// Learns that a picture of `macroblocks` at `quantizer` had `bytes`. The estimate rises fast and falls slowly.
    mutating func learn(macroblocks: Int, quantizer: Int, bytes: Double, now: MonotonicTime) {
        let factor = Self.power(Self.step, self.quantizer - quantizer)
        usual = min(usual * factor, Self.largest)
        peak = min(peak * factor, Self.largest)
        self.quantizer = quantizer
        let seen = min(max(0.01, (bytes - Self.overhead) / Double(max(macroblocks, 1))), Self.largest)
        let error = min(abs(seen - usual) / usual, 1)
        deviation += (error - deviation) * 0.125
        usual += (seen - usual) * (seen > usual ? 0.25 : 0.15)
        // The elapsed time is capped, because a rest makes no picture smaller.
        let passed = min(now - (lastLearned ?? now), .seconds(1)).seconds
        lastLearned = now
        peak = max(seen, usual + (peak - usual) / (1 + passed / Self.peakLasts))
    }

    /// Replaces an estimate that was entirely wrong by the cost of this one picture of `macroblocks`.
    mutating func correct(macroblocks: Int, quantizer: Int, bytes: Double, now: MonotonicTime) {
        self.quantizer = quantizer
        usual = min(max(0.01, (bytes - Self.overhead) / Double(max(macroblocks, 1))), Self.largest)
        peak = usual
        deviation = 0.5
        lastLearned = now
    }

    /// Starts again from a `part` of what `other` costs on average, as nothing better is known.
    mutating func expect(after other: SizeExpectation, part: Double) {
        quantizer = other.quantizer
        usual = min(other.usual * part, Self.largest)
        peak = usual
        deviation = 0.25
    }

    /// The time constant, in seconds, with which the peak falls back to the average.
    private static let peakLasts = 20.0

    /// The bytes for each macroblock that a picture will hardly exceed at the last quantizer used.
    private var most: Double { max(usual * (1 + deviation), peak) * Self.margin }

    /// More bytes than any encoder produces for the 256 pixels of a macroblock.
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
