import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

/// A publishing side that notes what it is asked and answers what the test told it to.
final class FakePublishing: TrackPublishing {
    struct State {
        var published: [String] = []
        var presenters: [Presenter?] = []
        var closed: [MediaSessionID] = []
        var reasons: [String?] = []
        /// Whether the sessions' media still arrive.
        var isReceiving = false
        var restarts: [String] = []
        var candidates: [String] = []
        var refusal: PublishingError?
        var restartRefusal: MediaSessionError?
        var ends: [MediaSessionID: @Sendable (String) -> Void] = [:]
    }

    let state = Mutex(State())

    func publish(
        offer sdp: String, room: String, track: String, presenter: Presenter?,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(PublishingError) -> OpenedSession {
        let result = state.withLock { state -> Result<OpenedSession, PublishingError> in
            if let refusal = state.refusal { return .failure(refusal) }
            state.published.append("\(room)/\(track)")
            state.presenters.append(presenter)
            let id = MediaSessionID(rawValue: UInt64(state.published.count))
            state.ends[id] = onEnd
            return .success(OpenedSession(id: id, answer: FakeMedia.answer, entityTag: "tag\(id.rawValue)"))
        }
        return try result.get()
    }

    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaSessionError) -> RestartedSession {
        let result = state.withLock { state -> Result<RestartedSession, MediaSessionError> in
            if let refusal = state.restartRefusal { return .failure(refusal) }
            state.restarts.append(fragment)
            return .success(RestartedSession(fragment: "a=ice-ufrag:new\r\n", entityTag: "new\(state.restarts.count)"))
        }
        return try result.get()
    }

    func remoteCandidates(_ session: MediaSessionID, fragment: String) {
        state.withLock { $0.candidates.append(fragment) }
    }

    func hasReceived(_ session: MediaSessionID, since time: MonotonicTime) -> Bool {
        state.withLock { $0.isReceiving }
    }

    func close(_ session: MediaSessionID, reason: String?) {
        state.withLock { state in
            state.closed.append(session)
            state.reasons.append(reason)
        }
    }

    /// Ends a session as if its publisher had gone silent.
    func end(_ session: UInt64, _ reason: String) {
        let end = state.withLock { $0.ends[MediaSessionID(rawValue: session)] }
        end?(reason)
    }
}

@Suite("WHIP")
struct PublisherTests {
    private let bearer = ["Authorization": "Bearer secret"]
    private let publishing = FakePublishing()

    private func server() throws -> RunningServer {
        let publishing = self.publishing
        return try RunningServer {
            $0.publishing = publishing
            $0.rooms[0].access = RoomAccess(viewing: "audience", presenting: "secret")
        }
    }

    private func post(_ server: borrowing RunningServer, _ path: String = "/whip/desk") throws -> RawResponse {
        try server.request(
            "POST", path, bearer.merging(["Content-Type": "application/sdp"]) { $1 }, body: EndpointClient.offer)
    }

    private func patch(
        _ server: borrowing RunningServer, _ location: String, _ body: String, tag: String? = nil
    ) throws -> RawResponse {
        var headers = bearer.merging(["Content-Type": "application/trickle-ice-sdpfrag"]) { $1 }
        headers["If-Match"] = tag
        return try server.request("PATCH", location, headers, body: body)
    }

    @Test("an offer is answered with 201, and the session lives until DELETE")
    func session() throws {
        let server = try server()
        let answer = try post(server)
        let location = try EndpointClient.location(in: answer, below: "/whip/desk/screen/")
        #expect(try server.request("GET", location, bearer).status == 204)
        #expect(try server.request("POST", location, bearer, body: "x").status == 405)

        #expect(try server.request("DELETE", location, bearer).status == 200)
        #expect(publishing.state.withLock { $0.closed } == [MediaSessionID(rawValue: 1)])
        #expect(try server.request("DELETE", location, bearer).status == 404)
    }

    @Test("the path names the track; without one the room's first is meant, and what can't be a name is 404")
    func tracks() throws {
        let server = try server()
        #expect(try post(server, "/whip/desk/camera-2").headers["location"]?.hasPrefix("/whip/desk/camera-2/") == true)
        #expect(try post(server, "/whip/desk/").status == 201)
        for name in ["a%20b", "%3Cscript%3E", String(repeating: "x", count: 65)] {
            #expect(try post(server, "/whip/desk/" + name).status == 404)
        }
        #expect(publishing.state.withLock { $0.published } == ["desk/camera-2", "desk/screen"])
    }

    @Test("without the token nobody publishes, and a foreign page can't either")
    func refused() throws {
        let server = try server()
        let sdp = ["Content-Type": "application/sdp"]
        for path in ["/whip/desk", "/whip/desk/screen", "/whip/attic"] {
            #expect(try server.request("POST", path, sdp, body: EndpointClient.offer).status == 401)
            let wrong = sdp.merging(["Authorization": "Bearer wrong"]) { $1 }
            #expect(try server.request("POST", path, wrong, body: EndpointClient.offer).status == 401)
        }
        let viewer = try server.request(
            "POST", "/whip/desk", sdp.merging(["Authorization": "Bearer audience"]) { $1 }, body: EndpointClient.offer)
        #expect(viewer.status == 403)
        #expect(viewer.text == "this token lets you watch, but not publish; use the presenters' token\n")
        let location = try #require(try post(server).headers["location"])
        #expect(try server.request("DELETE", location.replacing("desk", with: "attic")).status == 401)
        // As with players, the URL is enough.
        #expect(try server.request("DELETE", location).status == 200)
    }

    @Test("what isn't an offer, and what the publishing side refuses, is answered in words")
    func badOffers() throws {
        let server = try server()
        let sdp = bearer.merging(["Content-Type": "application/sdp"]) { $1 }
        #expect(try server.request("POST", "/whip/desk", bearer, body: EndpointClient.offer).status == 415)
        #expect(try server.request("POST", "/whip/desk", sdp, body: "hello").status == 400)
        #expect(try server.request("POST", "/whip/desk", sdp, body: "").status == 400)
        let refusals: [(PublishingError, Int)] = [
            (.offer(.badOffer("line 3")), 400), (.offer(.unsupported("no H.264")), 422),
            (.offer(.full("50 viewers")), 503), (.taken("the track screen has a source already"), 409),
        ]
        for (refusal, status) in refusals {
            publishing.state.withLock { $0.refusal = refusal }
            let answer = try post(server)
            #expect(answer.status == status)
            #expect(answer.text == refusal.description + "\n")
            #expect((answer.headers["retry-after"] != nil) == (status == 503))
        }
    }

    @Test("a host that takes no publishers says so to who has the token")
    func none() throws {
        let server = try RunningServer { $0.rooms[0].access = RoomAccess(viewing: nil, presenting: "secret") }
        #expect(try post(server).status == 404)
    }

    @Test("the endpoint tells what it takes")
    func methods() throws {
        let server = try server()
        let options = try server.request("OPTIONS", "/whip/desk")
        #expect(options.status == 200)
        #expect(options.headers["accept-post"] == "application/sdp")
        #expect(try server.request("GET", "/whip/desk", bearer).headers["accept-post"] == "application/sdp")
        #expect(try server.request("PUT", "/whip/desk", bearer, body: "x").status == 405)
        let location = try #require(try post(server).headers["location"])
        #expect(
            try server.request("OPTIONS", location).headers["accept-patch"] == "application/trickle-ice-sdpfrag")
    }

    @Test("candidates are taken, and new credentials restart ICE under a new tag")
    func restart() throws {
        let server = try server()
        let location = try #require(try post(server).headers["location"])
        let candidate = "a=ice-ufrag:abcd\r\na=ice-pwd:efghijklmnop\r\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n"
        #expect(try patch(server, location, candidate).status == 204)
        #expect(try patch(server, location, candidate, tag: "\"other\"").status == 412)
        #expect(publishing.state.withLock { $0.candidates } == [candidate])
        #expect(
            try server.request("PATCH", location, bearer.merging(["Content-Type": "text/plain"]) { $1 }, body: "x")
                .status == 415)
        #expect(try patch(server, location, "no SDP").status == 400)

        let new = "a=ice-ufrag:wxyz\r\na=ice-pwd:0123456789abcdef\r\n"
        publishing.state.withLock { $0.restartRefusal = .unsupported("not now") }
        #expect(try patch(server, location, new, tag: "*").status == 422)
        publishing.state.withLock { $0.restartRefusal = nil }
        let answer = try patch(server, location, new, tag: "\"*\"")
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/trickle-ice-sdpfrag")
        #expect(answer.headers["etag"] == "\"new1\"")
        #expect(answer.text == "a=ice-ufrag:new\r\n")
        #expect(publishing.state.withLock { $0.restarts } == [new])
        #expect(try patch(server, location, candidate).status == 412)
        #expect(try patch(server, location, new, tag: "\"new1\"").status == 204)
        #expect(try patch(server, location, new, tag: "\"tag1\"").status == 412)
    }

    @Test("the session's URL is enough to send candidates, whatever token comes with it")
    func sessionIsACapability() throws {
        let server = try server()
        let location = try #require(try post(server).headers["location"])
        let fragment = ["Content-Type": "application/trickle-ice-sdpfrag"]
        for token in ["wrong", "audience"] {
            let headers = fragment.merging(["Authorization": "Bearer \(token)"]) { $1 }
            #expect(try server.request("PATCH", location, headers, body: "a=candidate:1").status == 204)
        }
        #expect(try server.request("PATCH", location, fragment, body: "a=candidate:1").status == 204)
        #expect(publishing.state.withLock { $0.candidates.count } == 3)
    }

    @Test("a session that the publishing side ended is gone")
    func ended() throws {
        let server = try server()
        let location = try #require(try post(server).headers["location"])
        publishing.end(1, "silent")
        try eventually("the session's end") { try server.request("GET", location, bearer).status == 404 }
        #expect(publishing.state.withLock { $0.closed.isEmpty })
    }
}
