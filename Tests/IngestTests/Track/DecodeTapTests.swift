import MediaTypes
import TestSupport
import Testing
import Threading

@testable import Ingest

@Suite("The decode tap's thread")
struct DecodeTapTests {
    @Test("a thread that can't start is an error, nobody waits for the tap, and who asked for a picture gets none")
    func noThread() throws {
        let answers = Answers()
        var tap: DecodeTap? = try DecodeTap(log: .silent)
        tap?.snapshot(from: nil, until: .distantFuture) { picture, _ in answers.add(picture) }
        let failure = #expect(throws: IngestError.self) {
            try tap?.start(onFailure: {}, onPicture: { _, _, _ in false }, startThread: { _, _ in nil })
        }
        #expect(failure?.description == "no thread left for the decode tap")
        // More than may wait for a running tap, from a source that makes no IDRs.
        let unit = CodedFrame(
            bytes: [UInt8](repeating: 0, count: 12 << 20), units: [], isRandomAccess: false, captureTime: nil,
            format: nil)
        for number in UInt64(1)...3 {
            let began = now()
            tap?.awaitRoom(for: unit)
            _ = tap?.take(DecodeTap.Delivery(frame: unit, epoch: 1, arrival: began, number: number))
            #expect(now() - began < .seconds(5), "it waited as long as it may")
        }
        tap = nil
        #expect(answers.all == [nil])
    }
}
