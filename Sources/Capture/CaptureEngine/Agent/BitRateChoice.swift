import MediaTypes

/// Chooses the bit rate of the pictures from the user's settings and the host's reports on the viewers' paths.
///
/// A rate that the user has set applies as far as the paths carry it; with a first rate, the pictures begin at the
/// first rate, and rise to the other where the paths have carried more. Without either, they begin at `BitRate.usual`,
/// and rise in this way too: unknown paths don't get more than most lines carry. Pure.
struct BitRateChoice {
    /// With so many, motion of the whole picture has quantizer 26 at 1280x720 and at 1920x1080; with two thirds of them
    /// 33, and with a third 42 (`screenrelay-capture --log rate` of `screenrelay-scene --scene full`).
    private static let bitsPerMacroblock = 50
    /// No screen needs more: the pacing of packets ends there, and the speed of a viewer's decoder.
    private static let maxBitsPerSecond = 50_000_000
    /// The least that encoders are asked for.
    private static let minBitsPerSecond = 10_000

    /// The rate that the user has set.
    let given: BitRate?
    /// The rate that the user wants to begin with, if it isn't `given`.
    let first: BitRate?
    /// The host's limit; nil before it has set one.
    var limit: BitRate?
    /// The rate that the viewers' paths have carried, as reported by the host.
    var carried = BitRate(bitsPerSecond: 0)

    init(given: BitRate?, first: BitRate? = nil) { (self.given, self.first) = (given, first) }

    /// The rate before the host's first report.
    var beginning: BitRate { first ?? given ?? .usual }

    /// The rate for pictures of this size, `period` apart.
    func rate(of size: PictureSize, period: Interval) -> BitRate {
        let ceiling =
            if let given, first == nil {
                given
            } else {
                max(beginning, min(carried, given ?? Self.highest(of: size, period: period)))
            }
        return BitRate(bitsPerSecond: max(min(limit ?? ceiling, ceiling).bitsPerSecond, Self.minBitsPerSecond))
    }

    /// The rate beyond which more is of no use: 12 Mbit/s for 1920x1080 at 30 frames per second.
    static func highest(of size: PictureSize, period: Interval) -> BitRate {
        let macroblocks = ((size.width + 15) / 16) * ((size.height + 15) / 16)
        let bits = Double(macroblocks * bitsPerMacroblock) / max(period.seconds, 0.001)
        return BitRate(bitsPerSecond: max(BitRate.usual.bitsPerSecond, Int(min(bits, Double(maxBitsPerSecond)))))
    }
}
