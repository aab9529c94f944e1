import Testing

@testable import RTMP

@Suite("Values of AMF0")
struct AMFTests {
    private func values(_ bytes: [UInt8]) throws(RTMPError) -> [AMFValue] {
        var reader = AMFReader(bytes[...])
        var found: [AMFValue] = []
        while let value = try reader.next() { found.append(value) }
        return found
    }

    @Test("have these forms")
    func forms() throws {
        let found = try values(
            bytes(
                """
                00 4045000000000000  01 01  01 00  02 0003 'a' C3A9  05  06  0D
                03 0001 'x' 05 000009  08 00000007 0001 'y' 02 0001 'z' 000009
                0A 00000002 05 00 0000000000000000  0B 00000000000000000000
                0C 00000002 'hi'  0F 00000001 'd'  10 0001 'C' 0001 'n' 01 01 000009  07 0000
                """))
        let expected: [AMFValue] = [
            .number(42), .boolean(true), .boolean(false), .string("aé"), .null, .undefined, .undefined,
            .object([.init(name: "x", value: .null)]), .object([.init(name: "y", value: .string("z"))]),
            .array([.null, .number(0)]), .undefined, .string("hi"), .string("d"),
            .object([.init(name: "n", value: .boolean(true))]), .undefined,
        ]
        #expect(found == expected)
    }

    @Test("are read as they were written")
    func written() throws {
        let all: [AMFValue] = [
            .number(-1.5), .boolean(true), .string("é"), .null, .undefined, .array([.number(1), .array([])]),
            .object([.init(name: "a", value: .object([])), .init(name: "", value: .boolean(false))]),
        ]
        #expect(try values(AMFWriter.bytes(of: all)) == all)
    }

    @Test(
        "are refused if they are cut off, unknown, too long, or nested too deep",
        arguments: [
            "00 40", "01", "02 0003 'ab'", "02 00", "03 0001 'x'", "03 0001 'x' 05", "08 0000", "0A FFFFFFFF 05",
            "0A 00000002 05", "0B 00", "0C 7FFFFFFF 'a'", "0C 00001001" + String(repeating: "20", count: 4097), "04",
            "09", "0E", "11", "12", "FF", "10 0001", "07 00", String(repeating: "0A 00000001", count: 9) + "05",
            String(repeating: "03 0001 'a'", count: 9) + "05" + String(repeating: "000009", count: 9),
        ] as [String])
    func faults(text: String) {
        #expect(throws: RTMPError.self) { _ = try values(bytes(text)) }
    }

    @Test("may be nested eight deep")
    func depth() throws {
        #expect(try values(bytes(String(repeating: "0A 00000001", count: 8) + "05")).count == 1)
    }
}
