public import MediaTypes

/// The bit rate that one viewer's path seems to carry, by the loss that its receiver reports (the loss-based controller of
/// draft-ietf-rmcat-gcc-02 section 6).
///
/// Above 10 % loss the rate falls below what was really sent, by half the loss; below 2 % it rises by 5 % a report; between
/// them it stays: some loss is the path's own and more bits or fewer don't change it.
public struct LossBasedRate: Sendable {
    /// Text stays readable down to here; lower would help nobody.
    public static let lowest = BitRate(bitsPerSecond: 200_000)
    /// More than any source of ours sends: no limit.
    public static let highest = BitRate(bitsPerSecond: 100_000_000)

    /// The rate to stay under.
    public private(set) var target = LossBasedRate.highest

    /// A path that has shown no loss yet.
    public init() {}

    /// Takes one reception report.
    ///
    /// - Parameters:
    ///   - fractionLost: the part of the packets lost since the last report, in 1/256 (RFC 3550 section 6.4.1).
    ///   - sent: what was sent in about the same time.
    public mutating func report(fractionLost: UInt8, sent: BitRate) {
        let bits: Int
        if fractionLost > 25 {
            // Loss of a source that sends far below its target says that the path carries no more than it sends.
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

/// One rate for a track from those of its viewers: that of the lower quarter, so that among four viewers and more one bad
/// path doesn't hold all others down, nor do a few good ones drown the rest.
public func sharedTarget(of targets: [BitRate]) -> BitRate? {
    guard !targets.isEmpty else { return nil }
    return targets.sorted()[targets.count / 4]
}
