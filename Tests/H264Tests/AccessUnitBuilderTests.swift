import H264
import MediaTypes
import TestSupport
import Testing

@Suite("Access units of a whole file")
struct AnnexBAccessUnitsTests {
    @Test("a file without pictures has no access units", arguments: [[], [0, 0, 1], [1, 2, 3, 4, 5]] as [[UInt8]])
    func nothing(bytes: [UInt8]) {
        #expect(AccessUnitBuilder.accessUnits(inAnnexB: bytes).isEmpty)
    }

    @Test("every picture of a stream is one access unit", arguments: TestStreams.intact)
    func intact(stream: TestStream) throws {
        let units = try AccessUnitBuilder.accessUnits(inAnnexB: stream.bytes())
        #expect(units.count == stream.pictures)
        #expect(units.first?.isRandomAccess == true)
    }

    @Test("a whole stream is refused as one access unit, with the number of its pictures, and each of its own is taken")
    func wholeStream() throws {
        let stream = TestStreams.small
        let bytes = try stream.bytes()
        #expect(throws: H264Error.severalPictures(count: try #require(stream.pictures))) {
            try CodedFrame(annexB: bytes)
        }
        for unit in AccessUnitBuilder.accessUnits(inAnnexB: bytes) {
            #expect(try CodedFrame(annexB: unit.bytes).bytes == unit.bytes)
        }
    }
}
