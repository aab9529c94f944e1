/// What is added to the prediction of a macroblock of 4:2:0, as levels in zig-zag order (ITU-T H.264 section 7.3.5.3).
public struct MacroblockResidual: Sendable {
    /// The sixteen luma blocks, in the order of 6.4.3: four blocks of one quarter after those of another.
    public var luma = [SIMD16<Int16>](repeating: SIMD16(), count: 16)
    /// The luma DC coefficients of Intra_16x16; those in `luma` are not looked at there.
    public var lumaDC = SIMD16<Int16>()
    /// The DC coefficients of Cb and Cr.
    public var chromaDC = [SIMD4<Int16>](repeating: SIMD4(), count: 2)
    /// The four blocks of Cb and those of Cr; their DC coefficients are not looked at.
    public var chroma = [SIMD16<Int16>](repeating: SIMD16(), count: 8)
    /// CodedBlockPatternLuma: bit n is set where quarter n has levels; for Intra_16x16 15 or 0, which stands for AC levels.
    public var lumaPattern = 0
    /// CodedBlockPatternChroma: 0 nothing, 1 DC levels only, 2 AC levels as well.
    public var chromaPattern = 0

    /// Nothing is added.
    public init() {}

    /// Column and row of luma block `index`, in blocks from the macroblock's corner.
    public static func position(ofLuma index: Int) -> (column: Int, row: Int) {
        (index & 1 | index >> 1 & 2, index >> 1 & 1 | index >> 2 & 2)
    }
}
