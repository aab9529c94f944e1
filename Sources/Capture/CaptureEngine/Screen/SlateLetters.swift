/// The letters of the slate's words, 5 by 7 pixels each.
///
/// One letter is one number: a byte for each row, the top row in the lowest byte; bit 4 is the leftmost pixel.
enum SlateLetters {
    static let width = 5
    static let height = 7
    /// The distance from the left edge of one letter to that of the next.
    static let advance = 6

    /// The letter for an ASCII code; empty for a space and for characters that no slate contains.
    static func rows(of character: UInt8) -> UInt64 {
        switch character {
        case UInt8(ascii: "S"): 0x1e_0101_0e10_100f
        case UInt8(ascii: "T"): 0x04_0404_0404_041f
        case UInt8(ascii: "a"): 0x0f_110f_010e_0000
        case UInt8(ascii: "c"): 0x0e_1110_100e_0000
        case UInt8(ascii: "d"): 0x0f_1111_130d_0101
        case UInt8(ascii: "e"): 0x0e_101f_110e_0000
        case UInt8(ascii: "f"): 0x08_0808_1c08_0906
        case UInt8(ascii: "g"): 0x0e_010f_1111_0f00
        case UInt8(ascii: "h"): 0x11_1111_1916_1010
        case UInt8(ascii: "i"): 0x0e_0404_040c_0004
        case UInt8(ascii: "k"): 0x12_1418_1412_1010
        case UInt8(ascii: "l"): 0x0e_0404_0404_040c
        case UInt8(ascii: "m"): 0x15_1515_151a_0000
        case UInt8(ascii: "n"): 0x11_1111_1916_0000
        case UInt8(ascii: "o"): 0x0e_1111_110e_0000
        case UInt8(ascii: "p"): 0x10_101e_111e_0000
        case UInt8(ascii: "r"): 0x10_1010_1916_0000
        case UInt8(ascii: "s"): 0x1e_010e_100f_0000
        case UInt8(ascii: "t"): 0x06_0908_081c_0808
        case UInt8(ascii: "u"): 0x0d_1311_1111_0000
        case UInt8(ascii: "w"): 0x0a_1515_1111_0000
        default: 0
        }
    }
}
