import CaptureLink
import MediaTypes
import TestSupport
import Testing

@Suite("Access units of a whole file")
struct AnnexBAccessUnitsTests {
    @Test("a file without pictures has no access units", arguments: [[], [0, 0, 1], [1, 2, 3, 4, 5]] as [[UInt8]])
    func nothing(bytes: [UInt8]) {
        #expect(AccessUnitAssembler.accessUnits(inAnnexB: bytes).isEmpty)
    }

    @Test("every picture of a reference stream is one access unit", .enabled(if: ReferenceStreams.isAvailable))
    func referenceStream() throws {
        let units = try AccessUnitAssembler.accessUnits(inAnnexB: ReferenceStreams.bytes("Zhling_1280x720.264"))
        #expect(units.count == 19)
        #expect(units.first?.isIDR == true)
    }
}
