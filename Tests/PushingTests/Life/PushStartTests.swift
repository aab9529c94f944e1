import Foundation
import Glibc
import MediaTypes
import OutputLife
import OutputSettings
import Pushing
import ScreenRelayKit
import TestSupport
import Testing
import TrackHub

@Suite("A push that is added to a running share", .enabled(if: FFmpeg.isAvailable), .serialized)
final class PushStartTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let track: CustomVideoTrack
    private var picture = I420Picture(
        size: PictureSize(width: 64, height: 48), bytes: [UInt8](repeating: 128, count: 64 * 48 * 3 / 2),
        isFullRange: false, matrix: .bt709, captureTime: nil)
    private var written = 0

    /// A track whose first key frame is so long ago that the host keeps no frames that a reader could begin with.
    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        track = try CustomVideoTrack(picturesPerSecond: 60)
        #expect(host.firstTrack.publish(track))
    }

    deinit { host.stop() }

    private func write() {
        written += 1
        picture[.luma, written % 64, written / 64 % 48] = UInt8(truncatingIfNeeded: 64 + written)
        track.write(picture: picture)
    }

    /// Writes more pictures after the first key frame than the host keeps, for a viewer who goes on watching.
    private func watchForLong() throws -> TrackSubscription {
        let watching = host.firstTrack.subscribe {}
        try eventually("it gets pictures") {
            write()
            return watching.take().isEmpty == false
        }
        // The host may ask for another key frame half a second after the first.
        let begin = now()
        try eventually("there is nothing to begin with") {
            for _ in 0..<50 { write() }
            poll(nil, 0, 5)
            _ = watching.take()
            return now() - begin > .seconds(1) && host.firstTrack.subscribe {}.take().isEmpty
        }
        return watching
    }

    @Test(
        "it connects within a second or two while somebody watches already, with and without an encoder",
        arguments: [nil, VideoSettings()])
    func start(_ video: VideoSettings?) throws {
        let watching = try watchForLong()
        var settings = PushSettings()
        settings.video = video
        let push = try host.push(to: try PushAddress("file:" + folder.file("talk.mkv")), settings: settings)
        try eventually("it is connected", within: .seconds(2)) {
            write()
            poll(nil, 0, 15)
            return push.state == .connected
        }
        withExtendedLifetime(watching) {}
    }

    @Test("a WHIP server is asked within a second or two while somebody watches already")
    func server() throws {
        let watching = try watchForLong()
        let push = try host.push(to: try PushTarget("whip:http://127.0.0.1:\(try freePort())/whip"))
        try eventually("it has asked the server that isn't there", within: .seconds(2)) {
            write()
            poll(nil, 0, 15)
            return push.state == .error
        }
        withExtendedLifetime(watching) {}
    }

    @Test("there is something to play by HLS within three seconds")
    func playlist() throws {
        let watching = try watchForLong()
        let push = try host.push(to: try PushAddress("file:" + folder.file("room.m3u8")))
        try eventually("there is a list", within: .seconds(3)) {
            write()
            poll(nil, 0, 15)
            return access(folder.file("room.m3u8"), F_OK) == 0
        }
        push.restart()
        let list = try fileBytes(folder.file("room.m3u8"))
        var seen: Set<[UInt8]> = []
        try eventually("it goes on with it") {
            write()
            poll(nil, 0, 15)
            seen.insert(try fileBytes(folder.file("room.m3u8")))
            return seen.count == 2
        }
        #expect(seen.contains(list) && !seen.contains([]))
        let last = try #require(seen.subtracting([list]).first.map { String(decoding: $0, as: UTF8.self) })
        #expect(last.ranges(of: ".m4s").count == 2 && last.contains("#EXT-X-DISCONTINUITY\n"))
        withExtendedLifetime(watching) {}
    }

    @Test("a key frame is asked for once while it starts")
    func once() throws {
        let watching = try watchForLong()
        let push = try host.push(to: try PushAddress("file:" + folder.file("talk.mkv")))
        var keyFrames = 0
        try eventually("it is connected", within: .seconds(2)) {
            write()
            poll(nil, 0, 15)
            return push.state == .connected
        }
        let end = now() + .milliseconds(1500)
        while now() < end {
            keyFrames += watching.take().filter(\.coded.isRandomAccess).count
            write()
            poll(nil, 0, 15)
        }
        #expect(keyFrames == 1)
    }

    /// Whether this process has a TCP socket whose send buffer was set to `size`, which the kernel doubles (socket(7)).
    private func hasSocket(sendBuffer size: Int32) -> Bool {
        // Other tests of this process may have more than a thousand.
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.compactMap { Int32($0) }.contains { descriptor in
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &value, &length) == 0 && value == size * 2
        }
    }

    @Test("by RTMP its socket has the send buffer that its settings name")
    func sendBuffer() throws {
        let server = try RawServer()
        var settings = PushSettings()
        settings.sendBuffer = 77 << 10
        let push = try host.push(to: try PushAddress("rtmp://127.0.0.1:\(server.port)/live/room"), settings: settings)
        try eventually("a socket with this buffer") {
            write()
            poll(nil, 0, 15)
            return hasSocket(sendBuffer: 77 << 10)
        }
        withExtendedLifetime((server, push)) {}
    }
}
