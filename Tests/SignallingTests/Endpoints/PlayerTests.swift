import MediaSessions
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("WHEP")
struct PlayerTests {
    private let bearer = ["Authorization": "Bearer secret"]
    private let fragment = ["Content-Type": "application/trickle-ice-sdpfrag"]

    private func open(_ server: borrowing RunningServer) throws -> RawResponse {
        try server.request(
            "POST", "/whep/desk", bearer.merging(["Content-Type": "application/sdp"]) { $1 }, body: EndpointClient.offer
        )
    }

    @Test("an offer is answered with 201, and the session lives until DELETE")
    func session() throws {
        let server = try RunningServer()
        let answer = try open(server)
        let location = try EndpointClient.location(in: answer, below: "/whep/desk/")
        #expect(server.media.state.withLock { $0.offers } == [EndpointClient.offer])
        #expect(server.server.audience(of: "desk") == RoomAudience(members: 0, players: 1))
        for method in ["GET", "HEAD"] {
            let look = try server.request(method, location, bearer)
            #expect(look.status == 204)
            #expect(look.headers["etag"] == "\"tag1\"")
        }

        #expect(try server.request("DELETE", location, bearer).status == 200)
        #expect(server.media.state.withLock { $0.closed } == [MediaSessionID(rawValue: 1)])
        #expect(server.server.audience(of: "desk") == RoomAudience())
        #expect(try server.request("DELETE", location, bearer).status == 404)
        #expect(try server.request("PATCH", location, bearer.merging(fragment) { $1 }, body: "a=mid:0").status == 404)
        let other = try open(server)
        #expect(other.headers["location"] != location)
    }

    @Test("the session's URL is enough, and another URL is not")
    func sessionIsACapability() throws {
        let server = try RunningServer()
        let location = try #require(try open(server).headers["location"])
        let wrong = ["Authorization": "Bearer wrong"]
        let elsewhere = location.replacing("desk", with: "attic")
        for headers in [[:], wrong] {
            #expect(try server.request("DELETE", elsewhere, headers).status == 401)
            #expect(try server.request("DELETE", location + "0", headers).status == 401)
            #expect(
                try server.request("PATCH", location, headers.merging(fragment) { $1 }, body: "a=candidate:1").status
                    == 204)
        }
        #expect(try server.request("DELETE", location).status == 200)
        #expect(try server.request("DELETE", location).status == 401)
    }

    @Test(
        "candidates are taken whatever a client makes of If-Match, and refused on a clear mismatch",
        arguments: [
            (nil, 204), ("*", 204), ("\"*\"", 204), ("\"tag1\"", 204), ("tag1", 204), ("W/\"tag1\"", 204),
            ("\"a\", \"tag1\"", 204),
            ("\"tag2\"", 412), ("tag", 412),
        ])
    func entityTags(tag: String?, status: Int) throws {
        let server = try RunningServer()
        let location = try #require(try open(server).headers["location"])
        var headers = bearer.merging(fragment) { $1 }
        headers["If-Match"] = tag
        let body = "a=ice-ufrag:abcd\r\na=ice-pwd:efghijklmnop\r\nm=video 9 RTP/AVP 0\r\na=mid:0\r\na=candidate:1\r\n"
        let answer = try server.request("PATCH", location, headers, body: body)
        #expect(answer.status == status)
        #expect(answer.headers["etag"] == nil)
        #expect(server.media.state.withLock { $0.fragments } == (status == 204 ? [body] : []))
    }

    @Test("what isn't an offer, and what the media side refuses, is answered in words")
    func badOffers() throws {
        let server = try RunningServer()
        let sdp = bearer.merging(["Content-Type": "application/sdp; charset=utf-8"]) { $1 }
        #expect(try server.request("POST", "/whep/desk", bearer, body: EndpointClient.offer).status == 415)
        let json = bearer.merging(["Content-Type": "application/json"]) { $1 }
        #expect(try server.request("POST", "/whep/desk", json, body: "{}").status == 415)
        #expect(try server.request("POST", "/whep/desk", sdp, body: "hello").status == 400)
        #expect(try server.request("POST", "/whep/desk", sdp, body: "").status == 400)
        #expect(server.media.state.withLock { $0.offers.isEmpty })
        let refusals: [(MediaSessionError, Int)] = [
            (.badOffer("line 3"), 400), (.unsupported("no H.264"), 422), (.full("50 viewers"), 503),
        ]
        for (refusal, status) in refusals {
            server.media.state.withLock { $0.refusal = refusal }
            let answer = try server.request("POST", "/whep/desk", sdp, body: EndpointClient.offer)
            #expect(answer.status == status)
            #expect(answer.text == refusal.description + "\n")
            // Only a host that is full may have room later.
            #expect(answer.headers["retry-after"] == (status == 503 ? "5" : nil))
        }
        #expect(server.server.audience(of: "desk") == RoomAudience())
    }

    @Test("a session that the media side ended is gone")
    func ended() throws {
        let server = try RunningServer()
        let location = try #require(try open(server).headers["location"])
        server.media.end(1, "the viewer is silent")
        try eventually("the session's end") { server.server.audience(of: "desk") == RoomAudience() }
        #expect(try server.request("GET", location, bearer).status == 404)
        #expect(server.server.audience(of: "desk") == RoomAudience())
        #expect(server.media.state.withLock { $0.closed.isEmpty })
    }

    @Test("the endpoint can be discovered, and knows its methods")
    func methods() throws {
        let server = try RunningServer()
        for method in ["GET", "HEAD"] {
            let head = try server.request(method, "/whep/desk", bearer)
            #expect(head.status == 200)
            #expect(head.headers["content-type"] == "application/sdp")
            #expect(head.headers["accept-post"] == "application/sdp")
            #expect(head.body.isEmpty)
        }
        let location = try #require(try open(server).headers["location"])
        for (path, more) in [("/whep/desk", "POST"), (location, "PATCH, DELETE")] {
            let refused = try server.request("PUT", path, bearer, body: "x")
            #expect(refused.status == 405)
            #expect(refused.headers["allow"] == "OPTIONS, GET, HEAD, \(more)")
            let options = try server.request("OPTIONS", path)
            #expect(options.status == 200)
            #expect(options.headers["allow"] == "OPTIONS, GET, HEAD, \(more)")
        }
        #expect(try server.request("POST", location, bearer, body: "x").status == 405)
        #expect(try server.request("GET", location, bearer).status == 204)
        #expect(try server.request("DELETE", "/whep/desk", bearer).status == 405)
        #expect(try server.request("PATCH", "/whep/desk", bearer.merging(fragment) { $1 }, body: "").status == 405)
        #expect(try server.request("GET", "/whep", bearer).status == 404)
        #expect(try server.request("GET", location + "/more", bearer).status == 404)
    }

    @Test("a room's name may need percent-encoding")
    func encodedName() throws {
        let server = try RunningServer {
            $0.rooms = [RoomConfiguration(name: "mein Büro", token: "secret")]
        }
        let answer = try server.request(
            "POST", "/whep/mein%20B%C3%BCro", bearer.merging(["Content-Type": "application/sdp"]) { $1 },
            body: EndpointClient.offer)
        let location = try #require(answer.headers["location"])
        #expect(location.hasPrefix("/whep/mein%20B%C3%BCro/"))
        #expect(try server.request("DELETE", location, bearer).status == 200)
    }
}
