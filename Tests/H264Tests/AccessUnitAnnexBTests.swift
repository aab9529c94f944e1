import H264
import MediaTypes
import Testing

@Suite("An access unit from an encoder's bytes")
struct AccessUnitAnnexBTests {
    @Test("start codes of either length are taken, and each NAL unit stands behind four bytes")
    func startCodes() throws {
        let unit = try #require(
            AccessUnit(annexB: [0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 1, 0x65, 3], captureTime: nil))
        #expect(unit.bytes == [0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0x65, 3])
        #expect(unit.nalUnits == [4..<6, 10..<12, 16..<18])
        #expect(unit.isIDR)
    }

    @Test("a picture that isn't an IDR one says so, and its capture time is kept")
    func notIDR() throws {
        let time = MonotonicTime(nanoseconds: 5)
        let unit = try #require(AccessUnit(annexB: [0, 0, 1, 0x41, 9], captureTime: time))
        #expect(!unit.isIDR)
        #expect(unit.captureTime == time)
    }

    @Test("bytes without a NAL unit are no access unit", arguments: [[], [0, 0, 0, 1], [1, 2, 3]] as [[UInt8]])
    func nothing(bytes: [UInt8]) {
        #expect(AccessUnit(annexB: bytes, captureTime: nil) == nil)
    }
}
