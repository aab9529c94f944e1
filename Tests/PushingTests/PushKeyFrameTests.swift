import Glibc
import H264
import MediaTypes
import OutputLife
import OutputSettings
import Pushing
import ScreenRelayKit
import TestSupport
import Testing
import TrackHub

@Suite("The key frames of a push", .enabled(if: FFmpeg.isAvailable))
struct PushKeyFrameTests {
    @Test(
        "a source that makes none on request is passed on as it is, except for segments, which begin with key frames",
        arguments: ["talk.mkv", "room.m3u8"])
    func ownKeyFrames(_ file: String) throws {
        let folder = try TemporaryFolder()
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let source = CustomVideoTrack(makesKeyFrames: false, feedback: .init(keyFrameWanted: {}))
        #expect(host.publish(source))
        // Every 25th of them is a key frame.
        let pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        let watching = host.firstTrack.subscribe {}
        source.write(pictures[0])
        var settings = PushSettings()
        settings.keyFrameInterval = .milliseconds(100)
        let push = try host.push(to: try PushAddress("file:" + folder.file(file)), settings: settings)
        try eventually("it is connected") { push.state == .connected }
        for picture in pictures.dropFirst() {
            source.write(picture)
            poll(nil, 0, 20)
        }
        let isPassedOn = watching.take().map(\.coded.bytes) == pictures.map(\.bytes)
        #expect(isPassedOn == file.hasSuffix("mkv"))
    }
}
