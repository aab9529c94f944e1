import H264
import Testing

@Suite("Bits and exponential Golomb codes")
struct BitReaderTests {
    @Test("codes of table 9-2 have the values of table 9-2")
    func codes() throws {
        // 1 010 011 00100 00101 00110 00111 0001000, then the same as signed values.
        var reader = BitReader([0b1010_0110, 0b0100_0010, 0b1001_1000, 0b1110_0010, 0b0010_0000])
        for value in UInt32(0)...7 { #expect(try reader.unsignedExpGolomb() == value) }
        var signed = BitReader([0b1010_0110, 0b0100_0010, 0b1001_1000, 0b1110_0010, 0b0010_0000])
        for value in [Int32(0), 1, -1, 2, -2, 3, -3, 4] { #expect(try signed.signedExpGolomb() == value) }
    }

    @Test("the longest code is read, and a longer prefix is an error")
    func longest() throws {
        var reader = BitReader([0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(try reader.unsignedExpGolomb() == UInt32.max - 1)
        var signed = BitReader([0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(try signed.signedExpGolomb() == -Int32.max)
        var endless = BitReader([UInt8](repeating: 0, count: 16))
        #expect(throws: H264Error.outOfRange(element: "an exp-Golomb prefix", value: 32)) {
            try endless.unsignedExpGolomb()
        }
    }

    @Test("a read past the end throws and never traps")
    func pastTheEnd() throws {
        var reader = BitReader([0xA5])
        #expect(try reader.bits(4) == 0xA)
        #expect(throws: H264Error.truncated) { try reader.bits(5) }
        #expect(throws: H264Error.truncated) { try reader.bits(-1) }
        #expect(throws: H264Error.truncated) { try reader.bits(33) }
        #expect(throws: H264Error.truncated) { try reader.skip(.max) }
        #expect(try reader.bits(4) == 5)
        #expect(throws: H264Error.truncated) { try reader.flag() }
        #expect(reader.count == 0)
    }

    @Test("the trailing one bit is not data")
    func trailingBits() throws {
        var reader = BitReader([0b1011_0000, 0])
        #expect(reader.hasMoreData)
        try reader.skip(3)
        #expect(!reader.hasMoreData)
        #expect(!BitReader([]).hasMoreData)
        #expect(!BitReader([0, 0]).hasMoreData)
    }

    @Test("a value above its limit is named with its element")
    func limits() throws {
        var reader = BitReader([0b0010_1000])
        #expect(throws: H264Error.outOfRange(element: "slice_type", value: 4)) {
            try reader.unsignedExpGolomb("slice_type", atMost: 3)
        }
    }
}
