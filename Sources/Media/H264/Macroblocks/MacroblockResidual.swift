/// The residual of a 4:2:0 macroblock, as levels in zig-zag order (ITU-T H.264 section 7.3.5.3).
public struct MacroblockResidual: Sendable {
    /// The sixteen luma blocks in the order of section 6.4.3: all four blocks of one quarter before those of the next.
    public var luma = [SIMD16<Int16>](repeating: SIMD16(), count: 16)
    /// The luma DC coefficients of Intra_16x16. For that type, the DC coefficients in `luma` are ignored.
    public var lumaDC = SIMD16<Int16>()
    /// The DC coefficients of Cb and Cr.
    public var chromaDC = [SIMD4<Int16>](repeating: SIMD4(), count: 2)
    /// The four blocks of Cb, then those of Cr. Their DC coefficients are ignored.
    public var chroma = [SIMD16<Int16>](repeating: SIMD16(), count: 8)
    /// CodedBlockPatternLuma: bit n is set if quarter n has levels. For Intra_16x16 it is 15 if there are AC levels,
    /// otherwise 0.
    public var lumaPattern = 0
    /// CodedBlockPatternChroma: 0 no levels, 1 only DC levels, 2 AC levels as well.
    public var chromaPattern = 0

    /// Creates an empty residual.
    public init() {}

    /// The column and row of luma block `index`, counted in blocks from the macroblock's top left corner.
    public static func position(ofLuma index: Int) -> (column: Int, row: Int) {
        (index & 1 | index >> 1 & 2, index >> 1 & 1 | index >> 2 & 2)
    }
}
