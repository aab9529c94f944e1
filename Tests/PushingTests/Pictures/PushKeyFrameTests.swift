import Glibc
import H264
import Ingest
import MediaTypes
import OutputLife
import OutputSettings
import Pushing
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import ScreenRelayKit

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
        #expect(host.firstTrack.publish(source))
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

    /// A source that makes key frames, and says so late, as a capture whose first frame comes beside its greeting.
    private final class LateSource: PictureSource {
        let ability = Flag()
        let requests = Mutex(0)
        var makesKeyFrames: Bool { ability.isSet }
        func requestKeyFrame() { requests.withLock { $0 += 1 } }
    }

    @Test("a source that says only after its first key frame that it makes them is asked for them")
    func lateAbility() throws {
        let folder = try TemporaryFolder()
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        let source = LateSource()
        let hub = host.firstTrack.ingest.hub
        #expect(hub.attach(source, now: now()))
        var settings = PushSettings()
        settings.keyFrameInterval = .milliseconds(100)
        let push = try host.push(to: try PushAddress("file:" + folder.file("talk.mkv")), settings: settings)
        try eventually("it watches") { host.firstTrack.viewers == 1 }
        hub.deliver(pictures[0], from: source, epoch: 1, arrival: now())
        try eventually("it is connected") { push.state == .connected }
        source.ability.set()
        hub.abilitiesChanged(of: source, now: now())
        source.requests.withLock { $0 = 0 }
        try eventually("a key frame is asked for") {
            hub.deliver(pictures[1], from: source, epoch: 1, arrival: now())
            return source.requests.withLock { $0 > 0 }
        }
    }

    @Test(
        "with settings of its own, a file has key frames as often as they say, by default every 72 pictures",
        arguments: [7, nil] as [Int?])
    func interval(_ named: Int?) throws {
        let folder = try TemporaryFolder()
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let source = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(host.firstTrack.publish(source))
        let pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        let file = folder.file("talk.mkv")
        var settings = PushSettings()
        settings.content = .pictures
        settings.video = VideoSettings()
        settings.video?.framesPerSecond = 60
        if let named { settings.video?.picturesPerKeyFrame = named }
        let interval = named ?? 72
        settings.statusPeriod = .milliseconds(100)
        let push = try host.push(to: try PushAddress("file:" + file), settings: settings)
        try eventually("it has sent enough") {
            source.write(pictures.next())
            poll(nil, 0, 15)
            return push.status?.sentPictures ?? 0 > max(60, interval * 5 / 2)
        }
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        let places = try FFmpeg.frames(of: file).enumerated().filter(\.element.isKeyFrame).map(\.offset)
        #expect(places.count >= (named == nil ? 3 : 6), "\(places)")
        // The one that the connection begins with was requested, and the next one is counted from there.
        #expect(zip(places.dropFirst(), places.dropFirst(2)).allSatisfy { $1 - $0 == interval }, "\(places)")
    }
}
