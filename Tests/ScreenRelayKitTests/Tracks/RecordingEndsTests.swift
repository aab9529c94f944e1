import CaptureLink
import H264
import Ingest
import MediaSessions
import MediaTypes
import Recording
import RecordingFiles
import Signalling
import TestSupport
import Testing
import Threading
import TrackHub

@testable import ScreenRelayKit
@testable import WebRTC

@Suite("When recordings of tracks end")
struct RecordingEndsTests {
    @Test("a track whose publisher returns in time goes on in its file")
    func returning() throws {
        let folder = try TemporaryFolder()
        let server = try MediaServer.onAnyPort()
        defer { server.stop() }
        var configuration = HostConfiguration.anyPorts
        configuration.recording = HostRecording(path: folder.file("talk.srr"))
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        let publishing = RoomPublishing(media: server, timeout: .seconds(60), log: .silent)
        publishing.connect(host)
        var paths: [String] = []
        var sent: [UInt8] = []
        for round: UInt32 in 0..<2 {
            let session = try publishing.publish(
                offer: PublisherOffers.obs, room: host.room, track: "screen-1", presenter: Presenter(name: "Ann"),
                onEnd: { _ in }
            ).id
            let track = try #require(host.track("screen-1", in: host.room))
            paths.append(try #require(track.recording?.path))
            let source = try #require(track.ingest.hub.source as? PublishedSource)
            var pictures = SkippedPictures(columns: 4 + round, rows: 3, references: 1)
            let picture = pictures.idr()
            source.receive(
                PublishedFrame(
                    codec: .h264, units: picture.units.map { [0, 0, 0, 1] + Array(picture.bytes[$0]) },
                    isRandomAccess: true, hasMedia: true, captureTime: now(), arrival: now()))
            sent += picture.bytes
            publishing.close(session)
            try eventually("the publisher's end", holds: { !track.ingest.hub.hasSource })
        }
        #expect(paths[0] == paths[1])
        host.stop()
        let file = try RecordedFile(path: paths[0])
        var recorded: [UInt8] = []
        while let item = try file.next() {
            guard case .message(let message, .toHost) = item.content, message.header.kind == .unit else { continue }
            recorded += message.payload
        }
        #expect(file.fault == nil && file.hasEnd && recorded == sent)
    }

    @Test("a host's end waits for all disks that hang at once, not for one after the other")
    func stalled() throws {
        let files = try (0..<3).map { _ in try StalledFile() }
        let recorders = try files.map { file in
            try LinkRecorder(try RecordingFile(creating: file.path, overwriting: true), log: .silent)
        }
        let bytes = [0, 0, 0, 1, 0x65] + [UInt8](repeating: 3, count: 200_000)
        for recorder in recorders {
            var recording = PublicationRecording(recorder, epoch: 1, at: now())
            recording.record(CodedFrame(h264: bytes, units: [4..<bytes.count], captureTime: nil), at: now())
        }
        let began = now()
        TrackRecorders(nil, log: .silent).close(recorders, within: .seconds(2))
        #expect(now() - began < .seconds(5))
        for recorder in recorders {
            if case .stalled? = recorder.status.failure {} else { Issue.record("\(recorder.status)") }
        }
        for file in files { file.close() }
        // Only now, because a recorder that goes waits for its disk.
        withExtendedLifetime(recorders) {}
    }
}
