import MediaSessions
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("WHEP: trickle and ICE restart")
final class PlayerICETests {
    private static let credentials = "a=ice-ufrag:abcd\r\na=ice-pwd:efghijklmnop\r\n"
    private static let other = "a=ice-ufrag:other\r\na=ice-pwd:another\r\nm=video 9 RTP/AVP 0\r\na=mid:0\r\n"
    private static let third = "a=ice-ufrag:third\r\na=ice-pwd:yet another\r\n"

    private let server: RunningServer
    private let location: String

    init() throws {
        server = try RunningServer { $0.allowedOrigins = ["https://player.example"] }
        let answer = try server.request(
            "POST", "/whep/desk", ["Authorization": "Bearer secret", "Content-Type": "application/sdp"],
            body: "v=0\r\ns=-\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n" + Self.credentials)
        location = try #require(answer.headers["location"])
    }

    private func patch(
        _ body: String, tag: String? = nil, type: String = "application/trickle-ice-sdpfrag",
        _ more: [String: String] = [:]
    ) throws -> RawResponse {
        var headers = more.merging(["Content-Type": type]) { $1 }
        headers["If-Match"] = tag
        return try server.request("PATCH", location, headers, body: body)
    }

    private var restarts: [String] { server.media.state.withLock { $0.restarts } }
    private var fragments: [String] { server.media.state.withLock { $0.fragments } }

    @Test(
        "new credentials restart ICE, whatever a client makes of If-Match",
        arguments: [
            nil, "*", "\"*\"", "\"tag1\"", "tag1",
        ])
    func restart(tag: String?) throws {
        let answer = try patch(Self.other, tag: tag)
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/trickle-ice-sdpfrag")
        #expect(answer.headers["etag"] == "\"tag1.1\"")
        #expect(answer.text == FakeMedia.fragment)
        #expect(restarts == [Self.other])
        #expect(server.server.audience(of: "desk") == RoomAudience(members: 0, players: 1))
        #expect(try server.request("GET", location).headers["etag"] == "\"tag1.1\"")
    }

    @Test("after a restart the new tag and the new credentials hold, and the old ones don't")
    func after() throws {
        #expect(try patch(Self.other).status == 200)
        #expect(try patch(Self.other, tag: "\"tag1.1\"").status == 204, "candidates of the new generation")
        #expect(try patch("a=candidate:1", tag: "*").status == 204)
        #expect(fragments == [Self.other, "a=candidate:1"])
        #expect(try patch("a=candidate:1", tag: "\"tag1\"").status == 412)
        let late = try patch(Self.credentials, tag: "*")
        #expect(late.status == 412, "a late candidate doesn't bring the old generation back")
        #expect(late.text.contains("restarted"))
        #expect(restarts == [Self.other])

        let again = try patch(Self.third, tag: "\"*\"")
        #expect(again.status == 200)
        #expect(again.headers["etag"] == "\"tag1.2\"")
        #expect(restarts == [Self.other, Self.third])
        #expect(try server.request("DELETE", location, ["If-Match": "\"tag1\""]).status == 200)
    }

    @Test("a restart under another state's tag is refused before anything is done")
    func mismatch() throws {
        #expect(try patch(Self.other, tag: "\"tag2\"").status == 412)
        #expect(restarts.isEmpty)
    }

    @Test(
        "a restart that the media side refuses leaves the session as it was",
        arguments: [
            (MediaSessionError.badOffer("no password"), 400), (.unsupported("no restarts"), 422),
            (.full("ending"), 503),
        ])
    func refused(refusal: MediaSessionError, status: Int) throws {
        server.media.state.withLock { $0.refusal = refusal }
        let answer = try patch(Self.other)
        #expect(answer.status == status)
        #expect(answer.text == refusal.description + "\n")
        #expect(answer.headers["etag"] == nil)
        #expect(try patch(Self.credentials, tag: "\"tag1\"").status == 204)
        #expect(server.media.state.withLock { $0.closed.isEmpty })
    }

    @Test("what is no fragment is 415 or 400")
    func malformed() throws {
        for type in ["application/sdp", "text/plain", ""] {
            let answer = try patch(Self.other, type: type)
            #expect(answer.status == 415)
            #expect(answer.headers["accept-patch"] == "application/trickle-ice-sdpfrag")
        }
        #expect(try patch(Self.credentials, type: "Application/Trickle-ICE-SDPFrag; charset=utf-8").status == 204)
        for body in ["hello", "a=mid:0\r\n\u{1}\r\n", String(repeating: "m=video 9 RTP/AVP 0\r\n", count: 40)] {
            #expect(try patch(body).status == 400)
        }
        #expect(restarts.isEmpty)
    }

    @Test("a page of an allowed origin may read the new tag, and is told so beforehand")
    func crossOrigin() throws {
        let origin = ["Origin": "https://player.example"]
        let answer = try patch(Self.other, tag: "*", origin)
        #expect(answer.status == 200)
        #expect(answer.headers["access-control-allow-origin"] == "https://player.example")
        #expect(
            answer.headers["access-control-expose-headers"] == "Location, ETag, Link, Accept-Patch, X-Room-Password")
        #expect(answer.headers["vary"] == "Origin")
        let preflight = try server.request(
            "OPTIONS", location,
            origin.merging([
                "Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "content-type,if-match",
            ]) { $1 })
        #expect(preflight.status == 200)
        #expect(preflight.headers["access-control-allow-origin"] == "https://player.example")
        #expect(preflight.headers["access-control-allow-methods"]?.contains("PATCH") == true)
        #expect(preflight.headers["access-control-allow-headers"]?.contains("If-Match") == true)
        #expect(preflight.headers["accept-patch"] == "application/trickle-ice-sdpfrag")
    }
}
