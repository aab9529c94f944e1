import ByteCoding
import Testing

@Suite("Bytes to integers and back")
struct ByteCodingTests {
    @Test("what a writer writes a reader reads, in both byte orders")
    func roundTrip() {
        var writer = ByteWriter(capacity: 64)
        writer.uint8(0x01)
        writer.uint16(0x0203)
        writer.uint24(0x04_0506)
        writer.uint32(0x0708_090A)
        writer.uint64(0x0B0C_0D0E_0F10_1112)
        writer.uint16LittleEndian(0x1413)
        writer.uint32LittleEndian(0x1817_1615)
        writer.uint64LittleEndian(0x201F_1E1D_1C1B_1A19)
        writer.append([0x21, 0x22])
        #expect(writer.bytes == Array(0x01...0x22))
        #expect(writer.count == 0x22)
        var reader = ByteReader(writer.bytes)
        #expect(reader.uint8() == 0x01)
        #expect(reader.uint16() == 0x0203)
        #expect(reader.uint24() == 0x04_0506)
        #expect(reader.uint32() == 0x0708_090A)
        #expect(reader.uint64() == 0x0B0C_0D0E_0F10_1112)
        #expect(reader.uint16LittleEndian() == 0x1413)
        #expect(reader.uint32LittleEndian() == 0x1817_1615)
        #expect(reader.uint64LittleEndian() == 0x201F_1E1D_1C1B_1A19)
        #expect(reader.bytes(2).map(Array.init) == [0x21, 0x22])
        #expect(reader.isEmpty)
    }

    @Test("a read past the end gives nothing and takes nothing")
    func pastTheEnd() {
        var reader = ByteReader([1, 2, 3])
        #expect(reader.uint32() == nil)
        #expect(reader.uint64LittleEndian() == nil)
        #expect(reader.bytes(4) == nil)
        #expect(reader.bytes(-1) == nil)
        #expect(reader.bytes(.max) == nil)
        #expect(reader.count == 3)
        #expect(reader.uint24() == 0x01_0203)
        #expect(reader.uint8() == nil)
        #expect(reader.bytes(0).map(Array.init) == [])
    }

    @Test("a reader of a slice begins at the slice")
    func slices() {
        let bytes: [UInt8] = [9, 9, 1, 2, 9]
        var reader = ByteReader(bytes[2..<4])
        #expect(reader.uint16() == 0x0102)
        #expect(reader.uint8() == nil)
    }

    @Test("overwriting changes two bytes and no others")
    func overwriting() {
        var writer = ByteWriter()
        writer.append([1, 2, 3, 4])
        writer.overwrite(uint16: 0xAABB, at: 1)
        #expect(writer.bytes == [1, 0xAA, 0xBB, 4])
    }
}
