/// The parts of a picture that are the previous picture moved: as a whole, or in two parts that move differently.
public struct GlobalMotion {
    /// What happens to a macroblock.
    public enum State: UInt8 {
        /// It is unchanged.
        case still = 0
        /// It has to be encoded.
        case coded = 1
        /// It equals the previous picture displaced by (`x`, `y`).
        case moved = 2
        /// Like `moved`, but half-sample interpolation has blurred its chroma. Set by the encoder.
        case movedCoarsely = 3
        /// It equals the previous picture displaced by `second`.
        case movedApart = 4
        /// Like `movedApart`, but blurred as well.
        case movedApartCoarsely = 5
    }

    /// The horizontal position in the previous picture, relative to the new position, in luma samples.
    public var x: Int
    /// The vertical position in the previous picture, relative to the new position, in luma samples.
    public var y: Int
    /// The position of what has moved differently, such as another column that scrolls; nil if nothing has.
    public var second: (x: Int, y: Int)?
    /// The `State` of each macroblock, row by row.
    public var states: [UInt8]
    /// The number of macroblocks to encode.
    public var codedCount = 0
    /// The number of macroblocks that have moved.
    public var movedCount = 0

    /// Creates a motion that applies to no macroblock yet.
    public init(x: Int, y: Int, macroblocks: Int) {
        self.x = x
        self.y = y
        states = [UInt8](repeating: State.still.rawValue, count: macroblocks)
    }
}
