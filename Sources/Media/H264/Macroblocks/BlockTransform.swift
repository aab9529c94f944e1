/// The 4x4 transform and quantization, for 8-bit samples and flat scaling (ITU-T H.264 sections 8.5.8 to 8.5.12).
///
/// A block is sixteen numbers in row order; levels are in zig-zag order.
public struct BlockTransform: Sendable {
    /// The quantizer of every block that this value transforms: QP'Y or QP'C, 0...51.
    public let qp: Int
    private let forward: SIMD16<Int32>
    private let backward: SIMD16<Int32>
    private let shift: Int32
    private let rounding: Int32

    /// Creates the transform for one quantizer.
    ///
    /// The rounding offset is a third of a quantization step for intra prediction (`isIntra`), and a sixth of
    /// a step for inter prediction.
    public init(qp: Int, isIntra: Bool) {
        let clipped = max(0, min(51, qp))
        self.qp = clipped
        let row = clipped % 6
        forward = Self.spread(Self.multipliers[row])
        backward = Self.spread(Self.scales[row])
        shift = Int32(truncatingIfNeeded: 15 + clipped / 6)
        rounding = (1 << shift) / (isIntra ? 3 : 6)
    }

    /// QP'C for a luma quantizer (table 8-15).
    public static func chromaQP(_ luma: Int, offset: Int) -> Int {
        let index = max(0, min(51, luma + offset))
        return index < 30 ? index : Int(chroma[index - 30])
    }

    /// The coefficients of a block of differences: the inverse of section 8.5.12.2 except for the scale.
    @inline(__always)
    public static func coefficients(_ block: SIMD16<Int32>) -> SIMD16<Int32> {
        func once(_ block: SIMD16<Int32>) -> SIMD16<Int32> {
            let (a, b, c, d) = rows(block)
            let (ad, bc) = (a &+ d, b &+ c)
            let (da, cb) = (a &- d, b &- c)
            return joined(ad &+ bc, da &+ da &+ cb, ad &- bc, da &- cb &- cb)
        }
        return transposed(once(transposed(once(block))))
    }

    /// Quantizes a block of coefficients; the levels are in zig-zag order.
    @inline(__always)
    public func levels(_ coefficients: SIMD16<Int32>) -> SIMD16<Int16> {
        let sign = coefficients &>> 31
        let magnitude = (coefficients ^ sign) &- sign
        let level = (magnitude &* forward &+ rounding) &>> shift
        let limited = pointwiseMin(level, SIMD16(repeating: 2_000))
        return Self.zigzag(SIMD16<Int16>(truncatingIfNeeded: (limited ^ sign) &- sign))
    }

    /// The levels of a block of differences.
    public func levels(ofDifference block: SIMD16<Int32>) -> SIMD16<Int16> { levels(Self.coefficients(block)) }

    /// The differences that `levels` add to the prediction.
    public func difference(ofLevels levels: SIMD16<Int16>) -> SIMD16<Int32> { Self.residual(scaled(levels)) }

    /// The level of a DC coefficient that went through the second transform. Its scale is twice that of the other
    /// coefficients.
    @inline(__always)
    public func level(ofDC coefficient: Int32) -> Int16 {
        let level = (Int64(abs(coefficient)) * Int64(forward[0]) + 2 * Int64(rounding)) >> Int64(shift + 1)
        return Int16(truncatingIfNeeded: coefficient < 0 ? -min(level, 2_000) : min(level, 2_000))
    }

    /// The scaled coefficients of `levels` (section 8.5.12.1). A DC coefficient that is coded separately has to be set
    /// afterwards.
    @inline(__always)
    public func scaled(_ levels: SIMD16<Int16>) -> SIMD16<Int32> {
        (SIMD16<Int32>(truncatingIfNeeded: Self.unzigzag(levels)) &* backward) &<< Int32(qp / 6)
    }

    /// The differences that a block of scaled coefficients adds to the prediction (section 8.5.12.2).
    @inline(__always)
    public static func residual(_ coefficients: SIMD16<Int32>) -> SIMD16<Int32> {
        func once(_ block: SIMD16<Int32>) -> SIMD16<Int32> {
            let (a, b, c, d) = rows(block)
            let (e, f) = (a &+ c, a &- c)
            let (g, h) = ((b &>> 1) &- d, b &+ (d &>> 1))
            return joined(e &+ h, f &+ g, f &- g, e &- h)
        }
        // Rows come first: the order matters, because halves are truncated.
        return (once(transposed(once(transposed(coefficients)))) &+ 32) &>> 6
    }

    /// The second transform of the sixteen luma DC coefficients of Intra_16x16. It is its own inverse except for the
    /// scale.
    public static func secondTransform(_ block: SIMD16<Int32>) -> SIMD16<Int32> {
        func once(_ block: SIMD16<Int32>) -> SIMD16<Int32> {
            let (a, b, c, d) = rows(block)
            let (ab, cd) = (a &+ b, c &+ d)
            let (ba, dc) = (a &- b, c &- d)
            return joined(ab &+ cd, ab &- cd, ba &- dc, ba &+ dc)
        }
        return transposed(once(transposed(once(block))))
    }

    /// The scaled luma DC coefficients of levels in zig-zag order, for use with `residual` (section 8.5.10). The result
    /// has one coefficient for each block, in row order.
    public func scaledLumaDC(_ levels: SIMD16<Int16>) -> SIMD16<Int32> {
        let coefficients = Self.secondTransform(SIMD16<Int32>(truncatingIfNeeded: Self.unzigzag(levels)))
        let scale = 16 * backward[0]
        let octave = Int32(qp / 6)
        if octave >= 6 { return (coefficients &* scale) &<< (octave - 6) }
        return (coefficients &* scale &+ (1 << (5 - octave))) &>> (6 - octave)
    }

    /// The scaled chroma DC coefficients of one component's four blocks, in row order (sections 8.5.11.1 and 8.5.11.2).
    public func scaledChromaDC(_ levels: SIMD4<Int16>) -> SIMD4<Int32> {
        let coefficients = Self.secondTransform(SIMD4<Int32>(truncatingIfNeeded: levels))
        return ((coefficients &* (16 * backward[0])) &<< Int32(qp / 6)) &>> 5
    }

    /// The second transform of four chroma DC coefficients.
    public static func secondTransform(_ block: SIMD4<Int32>) -> SIMD4<Int32> {
        let (a, b) = (block[0] &+ block[1], block[0] &- block[1])
        let (c, d) = (block[2] &+ block[3], block[2] &- block[3])
        return SIMD4(a &+ c, b &+ d, a &- c, b &- d)
    }

    /// Reorders a block from row order to zig-zag order (figure 8-8).
    @inline(__always)
    public static func zigzag(_ b: SIMD16<Int16>) -> SIMD16<Int16> {
        SIMD16(b[0], b[1], b[4], b[8], b[5], b[2], b[3], b[6], b[9], b[12], b[13], b[10], b[7], b[11], b[14], b[15])
    }

    @inline(__always)
    private static func unzigzag(_ b: SIMD16<Int16>) -> SIMD16<Int16> {
        SIMD16(b[0], b[1], b[5], b[6], b[2], b[4], b[7], b[12], b[3], b[8], b[11], b[13], b[9], b[10], b[14], b[15])
    }

    @inline(__always)
    private static func rows(
        _ block: SIMD16<Int32>
    ) -> (SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>) {
        (block.lowHalf.lowHalf, block.lowHalf.highHalf, block.highHalf.lowHalf, block.highHalf.highHalf)
    }

    @inline(__always)
    private static func joined(
        _ a: SIMD4<Int32>, _ b: SIMD4<Int32>, _ c: SIMD4<Int32>, _ d: SIMD4<Int32>
    ) -> SIMD16<Int32> {
        SIMD16(lowHalf: SIMD8(lowHalf: a, highHalf: b), highHalf: SIMD8(lowHalf: c, highHalf: d))
    }

    @inline(__always)
    private static func transposed(_ b: SIMD16<Int32>) -> SIMD16<Int32> {
        SIMD16(b[0], b[4], b[8], b[12], b[1], b[5], b[9], b[13], b[2], b[6], b[10], b[14], b[3], b[7], b[11], b[15])
    }

    /// Spreads three numbers over a 4x4 block: one for even rows and columns, one for odd rows and columns, one for the
    /// rest.
    private static func spread(_ values: (Int32, Int32, Int32)) -> SIMD16<Int32> {
        let (a, b, c) = values
        return SIMD16(a, c, a, c, c, b, c, b, a, c, a, c, c, b, c, b)
    }

    // Indexed by QP % 6: 2^21 divided by the scale and by the gain of the forward and inverse transforms.
    private static let multipliers: [(Int32, Int32, Int32)] = [
        (13107, 5243, 8066), (11916, 4660, 7490), (10082, 4194, 6554),
        (9362, 3647, 5825), (8192, 3355, 5243), (7282, 2893, 4559),
    ]
    // normAdjust4x4 (equation 8-315).
    private static let scales: [(Int32, Int32, Int32)] = [
        (10, 16, 13), (11, 18, 14), (13, 20, 16), (14, 23, 18), (16, 25, 20), (18, 29, 23),
    ]
    private static let chroma: [UInt8] = [
        29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39,
    ]
}
