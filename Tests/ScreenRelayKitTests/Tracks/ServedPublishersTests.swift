import MediaTypes
import TestSupport
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
        host = try Self.makeHost()
        access = ViewerAccess(of: host)
    }

    /// A host with five rooms.
    private static func makeHost(_ change: (inout HostConfiguration) -> Void = { _ in }) throws -> ScreenRelayHost {
        var configuration = HostConfiguration.anyPorts
        configuration.token = "viewing"
        configuration.presentingToken = "presenting"
        configuration.furtherRooms = (1...4).map {
            HostRoom(name: "room\($0)", token: "viewing", presentingToken: "presenting")
        }
        change(&configuration)
        return try ScreenRelayHost(configuration)
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

    @Test("end when the room's links expire")
    func expired() throws {
        defer { host.stop() }
        let other = try Self.makeHost { $0.lifetime = .seconds(1) }
        defer { other.stop() }
        let access = ViewerAccess(of: other)
        let served = ServedPublishers(
            of: other, over: .rtmp, limits: PublisherLimits(), wake: try #require(EventFD()))
        let isEnded = Flag()
        let publisher = try served.claim(camera, for: address) { isEnded.set() }
        try eventually("the expiry") {
            served.look(under: access, now: now())
            return publisher.ending == "the room's links have expired"
        }
        #expect(isEnded.isSet)
        #expect(served.refusal(of: address, to: camera, under: access) == .unauthorized)
    }

    @Test("end when their track is removed")
    func removed() throws {
        defer { host.stop() }
        let rtmp = try serve(.rtmp)
        let isEnded = Flag()
        let publisher = try rtmp.claim(camera, for: address) { isEnded.set() }
        rtmp.look(under: access, now: start)
        #expect(publisher.ending == nil && !isEnded.isSet)
        host.removeTrack("camera", from: host.room)
        #expect(rtmp.deadline == start + .seconds(1))
        rtmp.look(under: access, now: start + .seconds(1))
        #expect(publisher.ending == "the track has been removed" && isEnded.isSet)
    }

    @Test("have the limits that the documents name")
    func limits() throws {
        defer { host.stop() }
        let limits = PublisherLimits()
        #expect(limits.greeting == .seconds(10) && limits.silence == .seconds(20))
        #expect(limits.bytesPerSecond == 12_500_000 && limits.unpublished == .seconds(60))
        let rtmp = ServedPublishers(of: host, over: .rtmp, limits: limits, wake: try #require(EventFD()))
        // A room has at most 16 tracks.
        let rooms = [host.room] + (1...4).map { "room\($0)" }
        for index in 0..<64 {
            let place = ServedPublishers.Place(
                room: rooms[index % rooms.count], track: "camera\(index)", token: "presenting")
            #expect(rtmp.refusal(of: address, to: place, under: access) == nil)
            _ = try rtmp.claim(place, for: address) {}
        }
        let refusal = PublisherRefusal.full("the host already has 64 publishers over RTMP")
        #expect(rtmp.refusal(of: address, to: camera, under: access) == refusal)
        #expect(throws: refusal) { try rtmp.claim(camera, for: address) {} }
        // Each protocol has its own.
        let srt = try serve(.srt)
        #expect(srt.refusal(of: address, to: camera, under: access) == nil)
    }

    @Test("are refused while the host has too little memory")
    func memory() throws {
        defer { host.stop() }
        let other = try Self.makeHost { $0.sessionRefusal = { "too little memory" } }
        defer { other.stop() }
        let served = ServedPublishers(
            of: other, over: .srt, limits: PublisherLimits(), wake: try #require(EventFD()))
        let refusal = served.refusal(of: address, to: camera, under: ViewerAccess(of: other))
        #expect(refusal == .full("too little memory"))
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
