import CaptureLink
import MediaTypes
import RecordingFiles
import TestSupport
import Testing
import Threading

@testable import CaptureEngine

@Suite("capture's recorder")
struct CaptureRecorderTests {
    @Test("a disk that hangs holds up the end by less than the second that is left, and it is said how much is missing")
    func stalled() throws {
        // A busy machine may hold this test up beside the disk, but not each time.
        var shortest = Interval.seconds(60)
        for _ in 0..<5 where shortest >= .milliseconds(900) { shortest = min(shortest, try closeStalled()) }
        #expect(shortest < .milliseconds(900))
    }

    /// How long the end takes with a disk that hangs.
    private func closeStalled() throws -> Interval {
        let file = try StalledFile()
        defer { file.close() }
        let recorder = try CaptureRecorder(try RecordingFile(creating: file.path, overwriting: true), log: .silent)
        let encoder = MessageEncoder(epoch: 1)
        recorder.begin(encoder)
        let payload = [0, 0, 0, 1, 0x0C] + [UInt8](repeating: 1, count: 300_000)
        let header = try encoder.unitHeader(
            payloadCount: payload.count, captureTime: nil, endsFrame: true)
        recorder.add(header + payload)
        let began = now()
        let fault = try #require(recorder.close())
        let took = now() - began
        #expect(fault == .stalled(path: file.path, missing: UInt64(header.count + payload.count)))
        // There is no thread left to wait for.
        #expect(recorder.close() == fault)
        return took
    }
}
