public import MediaTypes

/// An estimate of the bit rate that one viewer's path can carry, based on the loss that its receiver reports (the
/// loss-based controller of draft-ietf-rmcat-gcc-02 section 6).
///
/// Above 10 % loss, the estimate falls below the rate that was actually sent, by half the loss fraction. Below 2 %, it
/// rises by 5 % per report. In between it stays the same: some loss is inherent in the path, and changing the rate
/// would not affect it.
public struct LossBasedRate: Sendable {
    /// The lowest target. Text is still readable at this rate; a lower one would help nobody.
    public static let lowest = BitRate(bitsPerSecond: 200_000)
    /// The highest target, above what any of our sources sends, so in effect no limit.
    public static let highest = BitRate(bitsPerSecond: 100_000_000)

    /// The rate not to exceed.
    public private(set) var target = LossBasedRate.highest

    /// A path without any reported loss.
    public init() {}

    /// Takes one reception report.
    ///
    /// - Parameters:
    ///   - fractionLost: the fraction of packets lost since the last report, in 1/256 (RFC 3550 section 6.4.1).
    ///   - sent: the rate that was sent over about the same time.
    public mutating func report(fractionLost: UInt8, sent: BitRate) {
        let bits: Int
        if fractionLost > 25 {
            // If the source sends far below its target and still sees loss, the path carries no more than what is sent.
            let base = min(target.bitsPerSecond, max(sent.bitsPerSecond, Self.lowest.bitsPerSecond))
            bits = base - base * Int(fractionLost) / 512
        } else if fractionLost < 5 {
            bits = target.bitsPerSecond + target.bitsPerSecond / 20
        } else {
            return
        }
        target = BitRate(
            bitsPerSecond: min(max(bits, Self.lowest.bitsPerSecond), Self.highest.bitsPerSecond))
    }
}

/// One rate for a source, taken from its viewers' targets: the one that at least half of them can take. A single bad
/// path does not hold back the others; its viewer gets the narrow rung.
public func sharedTarget(of targets: [BitRate]) -> BitRate? {
    guard !targets.isEmpty else { return nil }
    return targets.sorted()[targets.count / 2]
}
