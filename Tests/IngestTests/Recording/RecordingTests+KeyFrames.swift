import CaptureLink
import Ingest
import LinkTransport
import MediaTypes
import RecordingFiles
import TestSupport
import Testing
import Threading
import TrackHub

/// The key frames that a recording asks for.
extension RecordingTests {
    /// A capture of `host` that has sent an IDR picture and, after it, one that shows a change of that many pixels a
    /// side.
    private func capture(of host: Host, change: Int, makesKeyFrames: Bool = true) throws -> TestCapture {
        let capture = try TestCapture(path: host.path)
        try capture.greet(makesKeyFrames: makesKeyFrames)
        let pictures = try PlainPictures()
        for (number, side) in [64, change].enumerated() {
            let damage = PixelRectangle(x: 0, y: 0, width: side, height: side)
            try capture.send(.picture(PictureNotice(sequenceNumber: UInt64(number), damage: damage)))
            try capture.send(try pictures.next(shade: UInt8(50 + number), isIDR: number == 0))
        }
        try eventually("the pictures", holds: { host.hub.publishedFrames == 2 })
        return capture
    }

    @Test("while pictures change that are recorded, their source is asked for an IDR picture when the last is old")
    func keyFrames() throws {
        let host = try Host(keyFramePeriod: .zero)
        let capture = try capture(of: host, change: 16)
        try capture.wait(for: "the request") { $0.contains(.requestKeyFrame) }
    }

    @Test("not for a screen that stands still, nor before the last is old, nor of a source that makes none")
    func noKeyFrames() throws {
        for (period, change, makesKeyFrames) in [
            (Interval.zero, 0, true), (.seconds(3600), 16, true), (.zero, 16, false),
        ] {
            let host = try Host(keyFramePeriod: period)
            let capture = try capture(of: host, change: change, makesKeyFrames: makesKeyFrames)
            host.ingest.setRecorded(false)
            // The pause is sent after all requests that came before it.
            try capture.wait(for: "a pause") { $0.contains(.unwatched) }
            #expect(!capture.received.contains(.requestKeyFrame), "\(period), \(change), \(makesKeyFrames)")
        }
    }

    @Test("a publisher's pictures count as changes, and its recording wants an IDR picture when the last is old")
    func publicationKeyFrames() throws {
        let folder = try TemporaryFolder()
        let recorder = try LinkRecorder(path: folder.file("p.srr"), log: .silent)
        let start = now()
        var recording = PublicationRecording(recorder, epoch: 7, at: start)
        let pictures = try PlainPictures()
        let wishes = try [0, 9, 10].map { seconds in
            recording.record(try pictures.next(shade: 10, isIDR: seconds == 0), at: start + .seconds(seconds))
        }
        #expect(wishes == [false, false, true])
        recorder.close()
    }
}
