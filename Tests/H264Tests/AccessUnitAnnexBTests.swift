import H264
import MediaTypes
import Testing

@Suite("An access unit from an encoder's bytes")
struct AccessUnitAnnexBTests {
    @Test("start codes of either length are taken, and each NAL unit stands behind four bytes")
    func startCodes() throws {
        let unit = try CodedFrame(annexB: [0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 1, 0x65, 3])
        #expect(unit.bytes == [0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0x65, 3])
        #expect(unit.units == [4..<6, 10..<12, 16..<18])
        #expect(unit.isRandomAccess)
    }

    @Test("a picture that isn't an IDR one says so, and its capture time is kept")
    func notIDR() throws {
        let time = MonotonicTime(nanoseconds: 5)
        let unit = try CodedFrame(annexB: [0, 0, 1, 0x41, 9], captureTime: time)
        #expect(!unit.isRandomAccess)
        #expect(unit.captureTime == time)
    }

    @Test("bytes without a NAL unit are no access unit", arguments: [[], [0, 0, 0, 1], [1, 2, 3]] as [[UInt8]])
    func nothing(bytes: [UInt8]) {
        #expect(throws: H264Error.noNALUnit) { try CodedFrame(annexB: bytes) }
    }

    /// Slices behind their start codes: the first of a picture has macroblock 0, and so the highest bit of its second
    /// byte.
    private static let first: [UInt8] = [0, 0, 1, 0x41, 0x80]
    private static let second: [UInt8] = [0, 0, 1, 0x41, 0x40]
    private static let delimiter: [UInt8] = [0, 0, 1, 0x09, 0xF0]

    @Test(
        "several slices of one picture are one access unit, with whatever stands before and behind them",
        arguments: [
            first + second + second, delimiter + [0, 0, 1, 0x06, 1] + first + second, first + delimiter,
            second + second,
        ])
    func slices(bytes: [UInt8]) throws {
        #expect(try CodedFrame(annexB: bytes).units.isEmpty == false)
    }

    @Test(
        "more than one picture is refused, and the error says how many there are and what splits them",
        arguments: [
            (first + first, 2), (first + second + first + second + first, 3),
            (delimiter + first + delimiter + second, 2),
            (first + [0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 1, 0, 0, 1, 0x65, 0x40], 2),
        ])
    func severalPictures(bytes: [UInt8], count: Int) {
        #expect(throws: H264Error.severalPictures(count: count)) { try CodedFrame(annexB: bytes) }
        #expect(H264Error.severalPictures(count: count).description.contains("\(count) pictures"))
    }
}
