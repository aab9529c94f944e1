/// What of a picture is the picture before, moved as one.
public struct PictureMotion {
    /// What becomes of a macroblock.
    public enum State: UInt8 {
        /// It looks as before.
        case still = 0
        /// It is to be coded.
        case coded = 1
        /// It looks as the picture before does at `x`, `y` from it.
        case moved = 2
        /// The same, but chroma came out coarser: half samples of it blur. Set by the encoder.
        case movedCoarsely = 3
    }

    /// Where what is seen now stood, in luma samples from where it stands.
    public var x: Int
    public var y: Int
    /// The `State` of each macroblock, row by row.
    public var states: [UInt8]
    /// How many macroblocks are to be coded, and how many have moved.
    public var codedCount = 0
    public var movedCount = 0

    /// Motion by so much, of no macroblock yet.
    public init(x: Int, y: Int, macroblocks: Int) {
        self.x = x
        self.y = y
        states = [UInt8](repeating: State.still.rawValue, count: macroblocks)
    }
}
