import CaptureLink
import MediaTypes
import RecordingFiles
import TestSupport
import Testing

@testable import CaptureAgent

@Suite("capture's recorder")
struct CaptureRecorderTests {
    @Test("a disk that hangs holds up the end by less than the second that is left, and it is said how much is missing")
    func stalled() throws {
        let file = try StalledFile()
        defer { file.close() }
        let recorder = try CaptureRecorder(try RecordingFile(creating: file.path, overwriting: true)) { _, _ in }
        recorder.begin()
        let payload = [0, 0, 0, 1, 0x0C] + [UInt8](repeating: 1, count: 300_000)
        let header = try MessageEncoder(epoch: 1).nalUnitHeader(
            payloadCount: payload.count, captureTime: nil, endsAccessUnit: true)
        recorder.add(header + payload, .extended)
        let began = now()
        let fault = try #require(recorder.close())
        #expect(now() - began < .milliseconds(900))
        #expect(fault == .stalled(path: file.path, missing: UInt64(header.count + payload.count)))
        #expect(recorder.close() == fault)
        #expect(now() - began < .milliseconds(900))
    }
}
