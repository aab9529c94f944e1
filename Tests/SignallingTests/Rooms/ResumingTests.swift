import LinkTransport
import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Viewers who go on by another WebSocket")
struct ResumingTests {
    /// What `_peers` tells a viewer of its visit.
    private struct Visit {
        let you: String
        let host: String
        let secret: String
        /// Nil if it is a new visit.
        let watching: [String]?
    }

    /// Joins as a viewer, as `more` of `__join` says.
    private func join(_ client: WebSocketClient, _ key: String = "desk,secret", _ more: String = "") throws -> Visit {
        try client.send(event: "__join", "{\"room\":\"\(key)\",\"role\":\"viewer\"\(more)}")
        let peers = try client.next(event: "_peers")
        _ = try client.next(event: "_state")
        return Visit(
            you: try #require(peers["you"] as? String), host: try #require(peers["host"] as? String),
            secret: try #require(peers["resume"] as? String), watching: peers["watching"] as? [String])
    }

    private func resuming(_ visit: Visit) -> String { ",\"resume\":\"\(visit.secret)\"" }

    /// Joins and gets an answer.
    private func watch(_ client: WebSocketClient) throws -> Visit {
        let visit = try join(client)
        try client.send(offer: "o", to: visit.host)
        _ = try client.next(event: "_answer")
        return visit
    }

    /// Ends a connection without a close frame, and waits until the server knows.
    private func breakOff(_ client: WebSocketClient) throws {
        try client.raw.breakOff()
    }

    private func isClosed(_ media: FakeMedia) -> Bool { !media.state.withLock { $0.closed }.isEmpty }

    private func waitUntilEmpty(_ server: SignallingServer) throws {
        try eventually("the room to be empty") { server.audience(of: "desk").members == 0 }
    }

    @Test("with its secret a viewer keeps its ID and its sessions, and nobody hears that it left or came")
    func goesOn() throws {
        let news = Mutex<[RoomNews]>([])
        let heard = { @Sendable (item: RoomNews) in news.withLock { $0.append(item) } }
        let server = try RunningServer { $0.onEvent = heard }
        let first = try WebSocketClient(port: server.port)
        let visit = try watch(first)
        #expect(visit.watching == nil)
        let second = try WebSocketClient(port: server.port)
        let renewed = try join(second, "desk,secret", resuming(visit))
        #expect(renewed.you == visit.you && renewed.secret == visit.secret && renewed.watching == ["screen"])
        try first.raw.waitForEnd()
        #expect(!isClosed(server.media))
        // What comes by the second is the viewer's.
        try second.send(event: "__unwatch", "{}")
        try eventually("the end of the session") { isClosed(server.media) }
        #expect(server.server.audience(of: "desk") == RoomAudience(members: 1, players: 0))
        #expect(news.withLock { $0.map(\.change) } == [.came])
        try second.send("", opcode: 8)
        try eventually("its leaving") { news.withLock { $0.count > 1 } }
        #expect(news.withLock { $0.map(\.change) } == [.came, .left])
    }

    @Test("the address of a viewer is the one that it goes on from")
    func roams() throws {
        let server = try RunningServer { $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 } }
        let first = try WebSocketClient(port: server.port, ["X-Forwarded-For": "192.0.2.1"])
        let visit = try watch(first)
        let second = try WebSocketClient(port: server.port, ["X-Forwarded-For": "192.0.2.2"])
        _ = try join(second, "desk,secret", resuming(visit))
        let reports = Mutex<[RoomsDocument.Member]?>(nil)
        server.server.describe { document in reports.withLock { $0 = document.rooms.first?.members } }
        let members = try eventually("the report") { reports.withLock { $0 } }
        #expect(members.map(\.id) == [visit.you] && members.map(\.address) == ["192.0.2.2"])
    }

    @Test("with another secret, or the key of another room, a client is a new member")
    func otherSecrets() throws {
        let server = try RunningServer { $0.rooms.append(RoomConfiguration(name: "attic", token: "ladder")) }
        let first = try WebSocketClient(port: server.port)
        let visit = try watch(first)
        let stranger = try WebSocketClient(port: server.port)
        let own = try join(stranger, "desk,secret", ",\"resume\":\"\(visit.you)\"")
        #expect(own.you != visit.you && own.secret != visit.secret && own.watching == nil)
        let elsewhere = try WebSocketClient(port: server.port)
        let other = try join(elsewhere, "attic,ladder", resuming(visit))
        #expect(other.you != visit.you && other.watching == nil)
        // Who is in a room already starts over.
        let again = try join(stranger, "desk,secret", resuming(visit))
        #expect(again.you == own.you && again.watching == nil)
        #expect(server.server.audience(of: "desk").members == 2)
        #expect(!isClosed(server.media))
        try first.send(event: "__clock", "{\"t\":1}")
        _ = try first.next(event: "_clock")
    }

    @Test("a secret doesn't stand for the room's token")
    func wrongToken() throws {
        let server = try RunningServer()
        let first = try WebSocketClient(port: server.port)
        let visit = try watch(first)
        let second = try WebSocketClient(port: server.port)
        try second.send(event: "__join", "{\"room\":\"desk,secre\",\"role\":\"viewer\"\(resuming(visit))}")
        _ = try second.next(event: "_refused")
        #expect(try second.next() == .close(4403))
        #expect(!isClosed(server.media) && server.server.audience(of: "desk").members == 1)
    }

    @Test("when the link has expired nobody goes on")
    func expired() throws {
        let clock = TestClock()
        let server = try RunningServer {
            $0.rooms[0].access = RoomAccess(viewing: "secret", presenting: "stage", expiry: 2000)
            $0.lifetimeClock = { clock.now }
        }
        let first = try WebSocketClient(port: server.port)
        let visit = try watch(first)
        try breakOff(first)
        #expect(!isClosed(server.media))
        clock.now = 2000
        try eventually("the end of the session") { isClosed(server.media) }
        let second = try WebSocketClient(port: server.port)
        try second.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"\(resuming(visit))}")
        // Only those who were there when it expired are told so.
        _ = try second.next(event: "_refused")
        #expect(try second.next() == .close(4403))
    }

    @Test("a member of the meeting joins anew")
    func meeting() throws {
        let server = try RunningServer { $0.limits.returnTime = .seconds(3600) }
        let first = try WebSocketClient(port: server.port)
        let visit = try watch(first)
        try first.send(event: "__meet", "{\"on\":true}")
        _ = try first.next(event: "_meeting")
        let second = try WebSocketClient(port: server.port)
        let new = try join(second, "desk,secret", resuming(visit))
        #expect(new.you != visit.you && new.watching == nil)
        try first.raw.waitForEnd()
        #expect(isClosed(server.media))
        #expect(server.server.audience(of: "desk").members == 1)
        // If it breaks off, the others hear at once.
        try second.send(offer: "o", to: new.host)
        _ = try second.next(event: "_answer")
        try second.send(event: "__meet", "{\"on\":true}")
        _ = try second.next(event: "_meeting")
        try breakOff(second)
        try waitUntilEmpty(server.server)
    }

    @Test("a viewer may come back after its WebSocket has ended, and counts once meanwhile")
    func returns() throws {
        let server = try RunningServer { $0.limits.membersInRoom = 1 }
        let first = try WebSocketClient(port: server.port)
        let visit = try watch(first)
        try breakOff(first)
        #expect(!isClosed(server.media) && server.server.audience(of: "desk").members == 1)
        let stranger = try WebSocketClient(port: server.port)
        try stranger.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"}")
        _ = try stranger.next(event: "_refused")
        #expect(try stranger.next() == .close(4503))
        let second = try WebSocketClient(port: server.port)
        let renewed = try join(second, "desk,secret", resuming(visit))
        #expect(renewed.you == visit.you && renewed.watching == ["screen"])
        // And again.
        try breakOff(second)
        let third = try WebSocketClient(port: server.port)
        #expect(try join(third, "desk,secret", resuming(visit)).you == visit.you)
        #expect(!isClosed(server.media))
    }

    @Test("a viewer that doesn't come back within ten seconds has left")
    func doesNotReturn() throws {
        #expect(SignallingLimits().returnTime == .seconds(10))
        let server = try RunningServer { $0.limits.returnTime = .milliseconds(200) }
        let client = try WebSocketClient(port: server.port)
        let visit = try watch(client)
        try breakOff(client)
        try waitUntilEmpty(server.server)
        try eventually("its session to be closed") { isClosed(server.media) }
        let late = try WebSocketClient(port: server.port)
        #expect(try join(late, "desk,secret", resuming(visit)).watching == nil)
    }

    @Test("a close frame, and an end before anything is watched, are the end of the visit")
    func leaves() throws {
        let server = try RunningServer { $0.limits.returnTime = .seconds(3600) }
        let client = try WebSocketClient(port: server.port)
        _ = try watch(client)
        try client.send("", opcode: 8)
        try waitUntilEmpty(server.server)
        try eventually("its session to be closed") { isClosed(server.media) }
        let idle = try WebSocketClient(port: server.port)
        _ = try join(idle)
        try breakOff(idle)
        try waitUntilEmpty(server.server)
    }

    @Test("a visit whose last session ends meanwhile is over, and one whose other sessions go on is not")
    func mediaEnds() throws {
        let server = try RunningServer { $0.limits.returnTime = .seconds(3600) }
        let other = try server.addSecondTrack()
        let client = try WebSocketClient(port: server.port)
        let visit = try join(client)
        _ = try client.next(event: "_state")
        for track in ["screen", "desk2"] {
            try client.send(offer: "o", to: visit.host, track: track)
            _ = try client.next(event: "_answer")
        }
        try breakOff(client)
        server.media.end(1, "no word for 30 s")
        try server.server.waitUntilTaken()
        let second = try WebSocketClient(port: server.port)
        let renewed = try join(second, "desk,secret", resuming(visit))
        #expect(renewed.you == visit.you && renewed.watching == ["desk2"])
        try breakOff(second)
        other.end(1, "no word for 30 s")
        try waitUntilEmpty(server.server)
    }

    @Test("who is removed while its WebSocket is dead hears of it, and stays away")
    func removed() throws {
        let server = try RunningServer()
        let first = try WebSocketClient(port: server.port)
        let visit = try watch(first)
        try breakOff(first)
        server.server.removeParticipant(visit.you) { _ in }
        try eventually("the end of the session") { isClosed(server.media) }
        let second = try WebSocketClient(port: server.port)
        try second.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"\(resuming(visit))}")
        _ = try second.next(event: "_refused")
        #expect(try second.next() == .close(4410))
        #expect(server.server.audience(of: "desk").members == 0)
    }
}
