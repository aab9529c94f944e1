import MediaTypes
import Testing
import Threading

@testable import ScreenRelayKit

@Suite("Publishers of several servers")
struct ServedPublishersTests {
    private let host: ScreenRelayHost
    private let access: ViewerAccess
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)
    private let camera = ServedPublishers.Place(room: nil, track: "camera", token: "presenting")
    private let address = "127.0.0.1"

    init() throws {
        var configuration = HostConfiguration.anyPorts
        configuration.token = "viewing"
        configuration.presentingToken = "presenting"
        host = try ScreenRelayHost(configuration)
        access = ViewerAccess(of: host)
    }

    /// A server's publishers, whose tracks stay for 60 s.
    private func serve(_ transport: PublishingProtocol) throws -> ServedPublishers {
        var limits = PublisherLimits()
        limits.publishers = 2
        limits.unpublished = .seconds(60)
        return ServedPublishers(of: host, over: transport, limits: limits, wake: try #require(EventFD()))
    }

    /// Whether the track `camera` is still there after a server has looked, so many seconds after the start.
    private func keepsCamera(_ server: ServedPublishers, at seconds: Int64) -> Bool {
        server.look(under: access, now: start + .seconds(seconds))
        return host.track("camera", in: host.room) != nil
    }

    @Test("can't claim a track that a publisher of another server has claimed and sends nothing into so far")
    func claimed() throws {
        defer { host.stop() }
        let (rtmp, srt) = (try serve(.rtmp), try serve(.srt))
        let first = try rtmp.claim(camera, for: address) {}
        #expect(srt.refusal(of: address, to: camera, under: access) == .taken(track: "camera"))
        #expect(throws: PublisherRefusal.taken(track: "camera")) { try srt.claim(camera, for: address) {} }
        first.giveUp()
        rtmp.look(under: access, now: start)
        #expect(srt.refusal(of: address, to: camera, under: access) == nil)
        _ = try srt.claim(camera, for: address) {}
        srt.endAll(because: "it was a test")
        #expect(rtmp.refusal(of: address, to: camera, under: access) == nil)
    }

    @Test("keep a track that one of them has claimed since another one has left it")
    func claimedSince() throws {
        defer { host.stop() }
        let (rtmp, srt) = (try serve(.rtmp), try serve(.srt))
        try rtmp.claim(camera, for: address) {}.giveUp()
        #expect(keepsCamera(rtmp, at: 0))
        let second = try srt.claim(camera, for: address) {}
        // As after the end of a publisher over WHIP.
        host.removeUnpublished("camera", from: host.room)
        #expect(keepsCamera(rtmp, at: 60))
        second.giveUp()
        #expect(keepsCamera(srt, at: 60))
        #expect(keepsCamera(srt, at: 119))
        #expect(!keepsCamera(srt, at: 120))
    }

    @Test("keep a track for the whole time after the last of them has left it")
    func leftSince() throws {
        defer { host.stop() }
        let (rtmp, srt) = (try serve(.rtmp), try serve(.srt))
        try rtmp.claim(camera, for: address) {}.giveUp()
        #expect(keepsCamera(rtmp, at: 0))
        try srt.claim(camera, for: address) {}.giveUp()
        #expect(keepsCamera(srt, at: 50))
        #expect(keepsCamera(rtmp, at: 60))
        #expect(!keepsCamera(srt, at: 110))
    }

    @Test("are told why the room can't have their track, without an option of the command line")
    func badTrack() throws {
        defer { host.stop() }
        let place = ServedPublishers.Place(room: nil, track: "a b", token: "presenting")
        let rtmp = try serve(.rtmp)
        do throws(PublisherRefusal) {
            _ = try rtmp.claim(place, for: address) {}
            Issue.record("the track was made")
        } catch {
            #expect(error.description.hasPrefix("the room can't have this track: not a track name"))
        }
    }
}
