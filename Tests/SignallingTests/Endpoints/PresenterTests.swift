import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

/// The page presents: it publishes as part of its visit to the room.
@Suite("Members who present from the page")
struct PresenterTests {
    private let publishing = FakePublishing()

    private func server() throws -> RunningServer {
        let publishing = self.publishing
        return try RunningServer {
            $0.publishing = publishing
            $0.rooms[0].access = RoomAccess(viewing: "audience", presenting: "secret")
        }
    }

    /// Joins with `token` as `name`, and returns what `_peers` says.
    private func join(_ client: WebSocketClient, _ token: String, name: String = "Ann") throws -> [String: Any] {
        try client.send(
            event: "__join", "{\"room\":\"desk,\(token)\",\"role\":\"viewer\",\"name\":\"\(name)\"}")
        return try client.next(event: "_peers")
    }

    private func present(
        _ server: borrowing RunningServer, visit: String, token: String = "secret", track: String = "screen-1"
    ) throws -> RawResponse {
        try server.request(
            "POST", "/whip/desk/\(track)",
            ["Authorization": "Bearer \(token)", "Content-Type": "application/sdp", "X-Visit": visit],
            body: EndpointClient.offer)
    }

    /// Waits until the session has ended, and returns what its viewers are told.
    private func reason() throws -> String? {
        try eventually("the session's end") { publishing.state.withLock { $0.reasons.last } }
    }

    @Test("only a client with the presenters' token is told that it may present")
    func roles() throws {
        let server = try server()
        let presenter = try join(WebSocketClient(port: server.port), "secret")
        #expect(presenter["turn"] as? String == "owner")
        #expect(try join(WebSocketClient(port: server.port), "audience")["turn"] == nil)
        // A host that takes no publishers.
        let other = try RunningServer { $0.rooms[0].access = RoomAccess(viewing: "audience", presenting: "secret") }
        #expect(try join(WebSocketClient(port: other.port), "secret")["turn"] == nil)
    }

    @Test("a page is told what to ask of a camera, whether it may present or only meet, and a plain client isn't")
    func camera() throws {
        let publishing = self.publishing
        let camera = try #require(CameraFormat("640x360@15"))
        let server = try RunningServer {
            $0.publishing = publishing
            $0.camera = camera
            $0.rooms[0].access = RoomAccess(viewing: "audience", presenting: "secret")
        }
        for token in ["secret", "audience"] {
            let told = try join(WebSocketClient(port: server.port), token)["camera"] as? [String: Any]
            #expect(told?["width"] as? Int == 640 && told?["height"] as? Int == 360 && told?["frameRate"] as? Int == 15)
        }
        let plain = try WebSocketClient(port: server.port)
        try plain.send(event: "__join", "{\"room\":\"desk,audience\"}")
        #expect(try plain.next(event: "_peers")["camera"] == nil)
    }

    @Test("a viewer can't present, not even with a presenter's visit, and a visit that isn't one is refused")
    func attackers() throws {
        let server = try server()
        let client = try WebSocketClient(port: server.port)
        let visit = try #require(try join(client, "secret")["resume"] as? String)
        let viewer = try WebSocketClient(port: server.port)
        let viewing = try #require(try join(viewer, "audience", name: "Eve")["resume"] as? String)
        #expect(try present(server, visit: visit, token: "audience").status == 403)
        #expect(try present(server, visit: viewing, token: "audience").status == 403)
        #expect(try present(server, visit: visit, token: "wrong").status == 401)
        #expect(try present(server, visit: "no visit").status == 409)
        // Nor is the token enough for a visit that was begun without it.
        #expect(try present(server, visit: viewing).status == 403)
        #expect(publishing.state.withLock { $0.published.isEmpty })
    }

    @Test(
        "viewers are told whose share has ended, and why",
        arguments: [
            ("stopped", "Ann has stopped sharing"), ("ended", "Ann has ended sharing in the browser"),
            ("closed", "Ann has closed the page"), ("lost", "the connection to Ann was lost"),
        ])
    func endings(ending: String, text: String) throws {
        let server = try server()
        let client = try WebSocketClient(port: server.port)
        let visit = try #require(try join(client, "secret")["resume"] as? String)
        let location = try #require(try present(server, visit: visit).headers["location"])
        #expect(publishing.state.withLock { $0.presenters } == [Presenter(name: "Ann")])
        #expect(try server.request("DELETE", location, ["X-Ending": ending]).status == 200)
        #expect(try reason() == text)
        withExtendedLifetime(client) {}
    }

    @Test("a page can't say that it has crashed or was removed, and another publisher gives no reason")
    func otherEndings() throws {
        let server = try server()
        let client = try WebSocketClient(port: server.port)
        let visit = try #require(try join(client, "secret")["resume"] as? String)
        for ending in ["crashed", "removed", "over", "<b>"] {
            let location = try #require(try present(server, visit: visit).headers["location"])
            #expect(try server.request("DELETE", location, ["X-Ending": ending]).status == 200)
        }
        let other = try server.request(
            "POST", "/whip/desk/camera", ["Authorization": "Bearer secret", "Content-Type": "application/sdp"],
            body: EndpointClient.offer)
        let location = try #require(other.headers["location"])
        #expect(try server.request("DELETE", location, ["X-Ending": "closed"]).status == 200)
        let reasons = publishing.state.withLock { $0.reasons }
        #expect(reasons.count == 5 && reasons.allSatisfy { $0 == nil })
        withExtendedLifetime(client) {}
    }

    @Test("a page that is gone without a word has crashed, which is noticed within seconds", arguments: [true, false])
    func crash(sendsCloseFrame: Bool) throws {
        let server = try server()
        let client = try WebSocketClient(port: server.port)
        let visit = try #require(try join(client, "secret")["resume"] as? String)
        _ = try present(server, visit: visit)
        let start = ContinuousClock.now
        // A browser whose tab has crashed sends a close frame for it; one that was killed doesn't.
        if sendsCloseFrame {
            try client.raw.send(WebSocketClient.frame(8, [0x03, 0xE9]))
        } else {
            client.raw.endSending()
        }
        #expect(try reason() == "the browser of Ann has ended unexpectedly")
        // The media layer would notice after 10 s.
        #expect(ContinuousClock.now - start < .seconds(6))
    }

    @Test("a page whose media still arrive keeps its share while it may return, and loses it when it has left")
    func alive() throws {
        let server = try server()
        publishing.state.withLock { $0.isReceiving = true }
        let client = try WebSocketClient(port: server.port)
        let visit = try #require(try join(client, "secret")["resume"] as? String)
        _ = try present(server, visit: visit)
        try client.raw.breakOff()
        // It goes on by another WebSocket, and then leaves for good.
        let again = try WebSocketClient(port: server.port)
        try again.send(
            event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\",\"resume\":\"\(visit)\"}")
        let peers = try again.next(event: "_peers")
        #expect(peers["resume"] as? String == visit && peers["turn"] as? String == "owner")
        #expect(publishing.state.withLock { $0.closed.isEmpty })
        try again.raw.send(WebSocketClient.frame(8, [0x03, 0xE9]))
        #expect(try reason() == "the connection to Ann was lost")
    }

    @Test("who is removed by the sharer no longer presents")
    func removed() throws {
        let server = try server()
        let client = try WebSocketClient(port: server.port)
        let peers = try join(client, "secret")
        _ = try present(server, visit: try #require(peers["resume"] as? String))
        server.server.removeParticipant(try #require(peers["you"] as? String)) { _ in }
        #expect(try reason() == "Ann was removed by the sharer")
        withExtendedLifetime(client) {}
    }

    @Test("what the sharer removes doesn't come back by itself")
    func removedPublisher() throws {
        let server = try server()
        let client = try WebSocketClient(port: server.port)
        let visit = try #require(try join(client, "secret")["resume"] as? String)
        let location = try #require(try present(server, visit: visit).headers["location"])
        server.server.removeParticipant("publisher-1") { _ in }
        #expect(try reason() == "Ann was removed by the sharer")
        #expect(try server.request("GET", location, ["Authorization": "Bearer secret"]).status == 404)
        #expect(try present(server, visit: visit).status == 403)
        let again = try WebSocketClient(port: server.port)
        let next = try #require(try join(again, "secret")["resume"] as? String)
        #expect(try present(server, visit: next).status == 201)
        withExtendedLifetime((client, again)) {}
    }

    @Test("a presenter who takes another name goes on presenting")
    func renamed() throws {
        let server = try server()
        let client = try WebSocketClient(port: server.port)
        let visit = try #require(try join(client, "secret")["resume"] as? String)
        let location = try #require(try present(server, visit: visit).headers["location"])
        try client.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\",\"name\":\"Anna\"}")
        // When the crash of another page that has left later is noticed, this one would have been missed too.
        let other = try WebSocketClient(port: server.port)
        let visitOfOther = try #require(try join(other, "secret", name: "Bob")["resume"] as? String)
        _ = try present(server, visit: visitOfOther, track: "screen-2")
        other.raw.endSending()
        #expect(try reason() == "the browser of Bob has ended unexpectedly")
        #expect(try server.request("GET", location, ["Authorization": "Bearer secret"]).status == 204)
        withExtendedLifetime((client, other)) {}
    }

    @Test("what the media layer says of the end becomes words about the presenter")
    func words() {
        let ann = Presenter(name: "Ann")
        #expect(ann.text(ofSessionEnd: .byPeer) == "Ann has closed the page")
        // Whatever the words are.
        let lost = SessionEnd.other(SessionEnd.byPeer.description)
        #expect(ann.text(ofSessionEnd: lost) == "the connection to Ann was lost")
        #expect(Presenter(name: nil).text(of: .closed) == "the presenter has closed the page")
        #expect(ann.tag.text == "Ann" && ann.tag.data == .object(["presenter": .string("Ann")]))
        #expect(Presenter(name: nil).tag.text == nil)
    }
}
