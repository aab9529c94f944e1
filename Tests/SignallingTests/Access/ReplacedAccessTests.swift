import TestSupport
import Testing

@testable import Signalling

@Suite("Tokens that are replaced")
struct ReplacedAccessTests {
    private func bearer(_ token: String) -> [String: String] { ["Authorization": "Bearer \(token)"] }

    @Test("new ones are for those who come later; who is inside stays")
    func replaced() throws {
        let server = try RunningServer { $0.administration = Administration(token: "master", allowsNetwork: false) }
        let viewer = try WebSocketClient(port: server.port)
        let you = try viewer.joinAsViewer("desk,secret").you
        server.server.use([RoomConfiguration(name: "desk", token: "other")])
        server.server.use(administrationToken: "admin")
        #expect(try server.request("GET", "/whep/desk", bearer("secret")).status == 401)
        #expect(try server.request("GET", "/whep/desk", bearer("other")).status == 200)
        #expect(try server.request("GET", "/api/rooms", bearer("master")).status == 401)
        let rooms = try RoomsDocument(json: try server.request("GET", "/api/rooms", bearer("admin")).text).rooms
        #expect(rooms.first?.members.map(\.id) == [you])
        withExtendedLifetime(viewer) {}
    }

    @Test("a player that entered with the old one keeps its session, and its requests")
    func session() throws {
        let clock = TestClock()
        let server = try RunningServer { $0.attemptClock = { clock.now } }
        let sdp = bearer("secret").merging(["Content-Type": "application/sdp"]) { $1 }
        let location = try #require(
            try server.request("POST", "/whep/desk", sdp, body: EndpointClient.offer).headers["location"])
        server.server.use([RoomConfiguration(name: "desk", token: "other")])
        // A player that doesn't know of it tries again, until its address may not.
        for _ in 0..<20 { _ = try server.request("GET", "/whep/desk", bearer("secret")) }
        #expect(try server.request("GET", "/whep/desk", bearer("secret")).status == 429)
        let fragment = bearer("secret").merging(["Content-Type": "application/trickle-ice-sdpfrag"]) { $1 }
        #expect(try server.request("PATCH", location, fragment, body: "a=candidate:1").status == 204)
        #expect(try server.request("DELETE", location, bearer("secret")).status == 200)
        #expect(try server.request("DELETE", location, bearer("secret")).status == 429)
    }

    @Test("a server without /api gets none by a token for it")
    func noAdministration() throws {
        let server = try RunningServer()
        server.server.use(administrationToken: "admin")
        #expect(try server.request("GET", "/api/rooms", bearer("admin")).status == 404)
    }
}
