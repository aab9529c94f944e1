import Ingest
import MediaTypes
import Signalling
import Synchronization
import TestSupport
import Testing
import TrackHub

@testable import ScreenRelayKit

@Suite("A host's rooms and tracks")
struct HostedTrackTests {
    private func host() throws -> ScreenRelayHost {
        var configuration = HostConfiguration.anyPorts
        configuration.room = "desk"
        configuration.furtherRooms = [
            HostRoom(name: "attic", token: "a-token-of-its-own"), HostRoom(name: "hall", token: nil),
        ]
        return try ScreenRelayHost(configuration)
    }

    @Test("each room has a link with a token of its own")
    func links() throws {
        let host = try host()
        defer { host.stop() }
        #expect(host.linksDocument().rooms.map(\.name) == ["desk", "attic", "hall"])
        #expect(host.link(to: "desk") == host.link)
        #expect(host.link(to: "attic")?.hasSuffix("/#attic,a-token-of-its-own") == true)
        #expect(host.link(to: "hall")?.hasSuffix("/#hall") == true)
        #expect(host.link(to: "cellar") == nil)
    }

    @Test("the list of rooms includes each room's links, and can be parsed again")
    func listedLinks() throws {
        let host = try host()
        defer { host.stop() }
        let document = try #require(host.rooms())
        #expect(document.rooms.map(\.links) == host.linksDocument().rooms.map(\.links))
        #expect(document.rooms[1].links == [try #require(host.link(to: "attic"))])
        #expect(try RoomsDocument(json: document.json) == document)
    }

    @Test("tracks come and go in any room, and their sources' states are told")
    func tracks() async throws {
        let host = try host()
        defer { host.stop() }
        let second = try host.addTrack("desk2", to: "desk")
        let attic = try host.addTrack("screen", to: "attic")
        #expect(host.tracks.map(\.name) == ["screen", "desk2", "screen"])
        #expect(host.tracks.map(\.room) == ["desk", "desk", "attic"])
        #expect(host.track("desk2", in: "desk") === second && host.track("desk2", in: "attic") == nil)
        let source = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(attic.publish(source) && attic.sourceState == .live && host.firstTrack.sourceState == .waiting)
        // An application may show a slide for as long as it likes.
        #expect(!attic.media.isSteady)
        var rooms = await host.describeRooms()
        #expect(rooms.map(\.name) == ["desk", "attic", "hall"])
        #expect(rooms.map { $0.tracks.map(\.name) } == [["screen", "desk2"], ["screen"], []])
        #expect(rooms[1].tracks.map(\.state) == ["live"])
        source.end(reason: "it was a test")
        host.removeTrack("screen", from: "attic")
        host.removeTrack("screen", from: "attic")
        // The first one is there to the end.
        host.removeTrack("screen", from: "desk")
        rooms = await host.describeRooms()
        #expect(rooms.map { $0.tracks.map(\.name) } == [["screen", "desk2"], [], []])
        #expect(host.tracks.count == 2)
    }

    @Test("a track that can't be is refused with the reason")
    func refusals() throws {
        let host = try host()
        defer { host.stop() }
        func reason(_ name: String, _ room: String) -> String {
            do throws(HostError) {
                _ = try host.addTrack(name, to: room)
                return ""
            } catch {
                return error.description
            }
        }
        #expect(reason("screen", "desk") == "--track desk/screen: the room already has a track of that name")
        #expect(reason("cam", "cellar") == "--track cellar/cam: there is no such room")
        #expect(reason("a b", "desk").contains("not a track name"))
        for number in 1..<16 { #expect(reason("t\(number)", "desk") == "") }
        #expect(reason("t16", "desk") == "--track desk/t16: the room already has 16 tracks, the most that it can have")
        #expect(reason("t16", "attic") == "")
    }

    @Test("a pause and limits are for all tracks, also for one that comes later")
    func pause() throws {
        let host = try host()
        defer { host.stop() }
        let sources = (0..<3).map { _ in CustomVideoTrack(feedback: .init(keyFrameWanted: {})) }
        let second = try host.addTrack("b", to: "desk")
        #expect(host.firstTrack.publish(sources[0]) && second.publish(sources[1]))
        host.togglePause()
        var limits = SourceLimits()
        limits.bitRate = BitRate(bitsPerSecond: 1_000_000)
        host.limit(limits)
        let third = try host.addTrack("c", to: "attic")
        #expect(third.publish(sources[2]))
        #expect(host.tracks.map(\.sourceState) == [.paused(.sharer), .paused(.sharer), .paused(.sharer)])
        #expect(host.limits == limits && third.ingest.hub.sourceLimits == limits)
        host.togglePause()
        #expect(host.tracks.map(\.sourceState) == [.live, .live, .live])
        for source in sources { source.end(reason: "it was a test") }
    }
}
