/// The transform of 4x4 blocks and its quantizer, for 8-bit samples and flat scaling (ITU-T H.264 sections 8.5.8 to 8.5.12).
///
/// A block is sixteen numbers row by row; levels stand in zig-zag order.
public struct BlockTransform: Sendable {
    /// Of all blocks that this one quantizes: QP'Y or QP'C, 0...51.
    public let quantizer: Int
    private let forward: SIMD16<Int32>
    private let backward: SIMD16<Int32>
    private let shift: Int32
    private let rounding: Int32

    /// A coefficient is rounded up from so much on: a third of a step where nothing like the block was to be expected
    /// (`isPredictedWithin`), a sixth of one where it comes from another picture.
    public init(quantizer: Int, isPredictedWithin: Bool) {
        let clipped = max(0, min(51, quantizer))
        self.quantizer = clipped
        let row = clipped % 6
        forward = Self.spread(Self.multipliers[row])
        backward = Self.spread(Self.scales[row])
        shift = Int32(truncatingIfNeeded: 15 + clipped / 6)
        rounding = (1 << shift) / (isPredictedWithin ? 3 : 6)
    }

    /// QP'C of a luma quantizer (table 8-15).
    public static func chromaQuantizer(_ luma: Int, offset: Int) -> Int {
        let index = max(0, min(51, luma + offset))
        return index < 30 ? index : Int(chroma[index - 30])
    }

    /// The coefficients of a block of differences (the inverse of section 8.5.12.2, but for its scale).
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

    /// Levels of a block of coefficients, in zig-zag order.
    @inline(__always)
    public func levels(_ coefficients: SIMD16<Int32>) -> SIMD16<Int16> {
        let sign = coefficients &>> 31
        let magnitude = (coefficients ^ sign) &- sign
        let level = (magnitude &* forward &+ rounding) &>> shift
        let limited = pointwiseMin(level, SIMD16(repeating: 2_000))
        return Self.zigzag(SIMD16<Int16>(truncatingIfNeeded: (limited ^ sign) &- sign))
    }

    /// Levels of a block of differences.
    public func levels(ofDifference block: SIMD16<Int32>) -> SIMD16<Int16> { levels(Self.coefficients(block)) }

    /// What levels add to their prediction.
    public func difference(ofLevels levels: SIMD16<Int16>) -> SIMD16<Int32> { Self.residual(scaled(levels)) }

    /// Levels of DC coefficients that were transformed a second time, whose scale is twice that of others.
    @inline(__always)
    public func level(ofDC coefficient: Int32) -> Int16 {
        let level = (Int64(abs(coefficient)) * Int64(forward[0]) + 2 * Int64(rounding)) >> Int64(shift + 1)
        return Int16(truncatingIfNeeded: coefficient < 0 ? -min(level, 2_000) : min(level, 2_000))
    }

    /// Scaled coefficients of levels (section 8.5.12.1); a DC coefficient that stands elsewhere is put in afterwards.
    @inline(__always)
    public func scaled(_ levels: SIMD16<Int16>) -> SIMD16<Int32> {
        (SIMD16<Int32>(truncatingIfNeeded: Self.unzigzag(levels)) &* backward) &<< Int32(quantizer / 6)
    }

    /// What a block of scaled coefficients adds to its prediction (section 8.5.12.2).
    @inline(__always)
    public static func residual(_ coefficients: SIMD16<Int32>) -> SIMD16<Int32> {
        func once(_ block: SIMD16<Int32>) -> SIMD16<Int32> {
            let (a, b, c, d) = rows(block)
            let (e, f) = (a &+ c, a &- c)
            let (g, h) = ((b &>> 1) &- d, b &+ (d &>> 1))
            return joined(e &+ h, f &+ g, f &- g, e &- h)
        }
        // Rows first: the order matters, because halves are cut off.
        return (once(transposed(once(transposed(coefficients)))) &+ 32) &>> 6
    }

    /// The second transform of the sixteen luma DC coefficients of Intra_16x16, which is its own inverse but for the scale.
    public static func secondTransform(_ block: SIMD16<Int32>) -> SIMD16<Int32> {
        func once(_ block: SIMD16<Int32>) -> SIMD16<Int32> {
            let (a, b, c, d) = rows(block)
            let (ab, cd) = (a &+ b, c &+ d)
            let (ba, dc) = (a &- b, c &- d)
            return joined(ab &+ cd, ab &- cd, ba &- dc, ba &+ dc)
        }
        return transposed(once(transposed(once(block))))
    }

    /// Luma DC coefficients for `residual` of levels in zig-zag order (section 8.5.10); row by row of blocks.
    public func scaledLumaDC(_ levels: SIMD16<Int16>) -> SIMD16<Int32> {
        let coefficients = Self.secondTransform(SIMD16<Int32>(truncatingIfNeeded: Self.unzigzag(levels)))
        let scale = 16 * backward[0]
        let octave = Int32(quantizer / 6)
        if octave >= 6 { return (coefficients &* scale) &<< (octave - 6) }
        return (coefficients &* scale &+ (1 << (5 - octave))) &>> (6 - octave)
    }

    /// Chroma DC coefficients of a component's four blocks, row by row (sections 8.5.11.1 and 8.5.11.2).
    public func scaledChromaDC(_ levels: SIMD4<Int16>) -> SIMD4<Int32> {
        let coefficients = Self.secondTransform(SIMD4<Int32>(truncatingIfNeeded: levels))
        return ((coefficients &* (16 * backward[0])) &<< Int32(quantizer / 6)) &>> 5
    }

    /// The second transform of four chroma DC coefficients.
    public static func secondTransform(_ block: SIMD4<Int32>) -> SIMD4<Int32> {
        let (a, b) = (block[0] &+ block[1], block[0] &- block[1])
        let (c, d) = (block[2] &+ block[3], block[2] &- block[3])
        return SIMD4(a &+ c, b &+ d, a &- c, b &- d)
    }

    /// From rows to zig-zag order (figure 8-8).
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

    /// Three numbers to sixteen: of the corners of each 2x2, of the odd rows' odd columns, of all others.
    private static func spread(_ values: (Int32, Int32, Int32)) -> SIMD16<Int32> {
        let (a, b, c) = values
        return SIMD16(a, c, a, c, c, b, c, b, a, c, a, c, c, b, c, b)
    }

    // By QP % 6: 2^21 divided by the scale and by the length of the transform's rows.
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
