import Foundation
import Testing

@testable import Signalling

@Suite("Embedding")
struct EmbeddingTests {
    private static let friend = "https://friend.example"
    private static let fromFriend = ["Origin": friend]

    /// A request for the code of a link.
    private static func request(_ link: String, _ more: String = "") -> String {
        let characters = CharacterSet.alphanumerics
        return "/oembed?url=\(link.addingPercentEncoding(withAllowedCharacters: characters) ?? "")\(more)"
    }

    private func json(_ response: RawResponse) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(response.text.utf8)) as? [String: Any])
    }

    @Test("a page can neither frame ours nor load the element unless the host allows its origin")
    func refused() throws {
        let server = try RunningServer(token: nil)
        let page = try server.request("GET", "/", Self.fromFriend)
        #expect(page.headers["content-security-policy"]?.contains("; frame-ancestors 'none';") == true)
        #expect(page.headers["link"] == nil)
        let script = try server.request("GET", "/embed.js", Self.fromFriend)
        #expect(script.headers["access-control-allow-origin"] == nil)
        #expect(script.headers["cross-origin-resource-policy"] == "same-origin")
        #expect(try server.request("GET", Self.request("http://127.0.0.1/#desk")).status == 404)
    }

    @Test("an allowed origin changes only frame-ancestors")
    func allowed() throws {
        let strict = try RunningServer()
        let server = try RunningServer { $0.embeddingOrigins = [Self.friend, "http://192.0.2.7:8000"] }
        let before = try #require(try strict.request("GET", "/").headers["content-security-policy"])
        let policy = try #require(try server.request("GET", "/").headers["content-security-policy"])
        let rule = "frame-ancestors \(Self.friend) http://192.0.2.7:8000"
        #expect(policy == before.replacing("frame-ancestors 'none'", with: rule))
        // The page's other files and its WebSocket are still only for the page itself.
        let file = try server.request("GET", "/join/viewer.js", Self.fromFriend)
        #expect(file.headers["access-control-allow-origin"] == nil)
        let upgrade = WebSocketClient.upgradeHeaders.merging(Self.fromFriend) { $1 }
        #expect(try server.request("GET", "/ws", upgrade).status == 403)
        #expect(try server.request("GET", "/whep/desk", Self.fromFriend).status == 401)
    }

    @Test("pages of an allowed origin can load the element, and no others can")
    func script() throws {
        let server = try RunningServer { $0.embeddingOrigins = ["HTTPS://Friend.example:443"] }
        let script = try server.request("GET", "/embed.js", Self.fromFriend)
        #expect(script.status == 200 && script.headers["content-type"]?.hasPrefix("text/javascript") == true)
        #expect(script.headers["access-control-allow-origin"] == Self.friend)
        #expect(script.headers["vary"] == "Accept-Encoding, Origin")
        #expect(script.headers["referrer-policy"] == "no-referrer")
        #expect(script.text.contains("customElements.define(\"screen-relay\""))
        let tag = try #require(script.headers["etag"])
        let unchanged = try server.request("GET", "/embed.js", Self.fromFriend.merging(["If-None-Match": tag]) { $1 })
        #expect(unchanged.status == 304 && unchanged.headers["access-control-allow-origin"] == Self.friend)
        let others: [String?] = [
            nil, "https://other.example", "http://friend.example", "https://friend.example:444", "null", "a b",
        ]
        for origin in others {
            let answer = try server.request("GET", "/embed.js", origin.map { ["Origin": $0] } ?? [:])
            #expect(answer.headers["access-control-allow-origin"] == nil)
            // Without CORS, browsers don't load it for pages of other origins either.
            #expect(answer.headers["cross-origin-resource-policy"] == "same-origin")
            #expect(answer.headers["vary"] == "Accept-Encoding, Origin")
        }
    }

    @Test(
        "text that isn't an origin never gets into the policy",
        arguments: [
            "https://a; script-src *", "https://a;script-src", "*", "https://*.example", "https://*",
            "https://[::1]:80", "ftp://a", "https://", "https://a/", "https://a'", "https://a,b", "'self'",
            "https://a:b", "https://a\r\nX-Other: b", "https://a\nb", "https://a\u{0}", "https://b\u{fc}cher.example",
            "https://user@a", "https://a:65536", "",
        ])
    func garbage(origin: String) throws {
        #expect(!SignallingConfiguration.isEmbeddingOrigin(origin))
        let server = try RunningServer { $0.embeddingOrigins = [origin] }
        let policy = try server.request("GET", "/").headers["content-security-policy"]
        #expect(policy?.contains("; frame-ancestors 'none';") == true)
    }

    @Test("the policy has the origins as browsers write them, and no others")
    func origins() throws {
        let server = try RunningServer {
            $0.embeddingOrigins = ["https://a.example:443", "http://b.example:80", "http://c.example:443", "garbage"]
            $0.allowedOrigins = ["https://d.example"]
        }
        let policy = try server.request("GET", "/").headers["content-security-policy"]
        let rule = "; frame-ancestors https://a.example http://b.example http://c.example:443;"
        #expect(policy?.contains(rule) == true, "\(policy ?? "none")")
    }

    @Test("the link of an open room has embedding code, which the page's Link header leads to")
    func code() throws {
        let server = try RunningServer(token: nil) { $0.embeddingOrigins = [Self.friend] }
        let answer = try server.request("GET", Self.request("http://127.0.0.1/#desk"))
        #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
        let code = try json(answer)
        #expect(code["type"] as? String == "video" && code["version"] as? String == "1.0")
        #expect(code["width"] as? Int == 1280 && code["height"] as? Int == 720)
        #expect(code["provider_name"] as? String == "ScreenRelay")
        #expect(code["provider_url"] as? String == "http://127.0.0.1/")
        let html = try #require(code["html"] as? String)
        #expect(html.hasPrefix("<iframe src=\"http://127.0.0.1/#desk\" width=\"1280\" height=\"720\" "))

        let link = try #require(try server.request("GET", "/").headers["link"])
        let address = try #require(link.dropFirst().split(separator: ">").first)
        #expect(link.hasSuffix(">; rel=\"alternate\"; type=\"application/json+oembed\""))
        let path = try #require(address.split(separator: "http://127.0.0.1", maxSplits: 1).first)
        #expect(try json(server.request("GET", String(path)))["html"] as? String == html)

        let small = try json(server.request("GET", Self.request("http://127.0.0.1/", "&maxwidth=320&maxheight=900")))
        #expect(small["width"] as? Int == 320 && small["height"] as? Int == 180)
        let flat = try json(server.request("GET", Self.request("http://127.0.0.1/", "&maxheight=90")))
        #expect(flat["width"] as? Int == 160 && flat["height"] as? Int == 90)
        let least = try json(server.request("GET", Self.request("http://127.0.0.1/", "&maxwidth=1&maxheight=1")))
        #expect(least["width"] as? Int == 1 && least["height"] as? Int == 1)
    }

    @Test(
        "a limit that isn't a number, or is out of range, changes nothing",
        arguments: ["0", "-5", "99999999999999999999", "9223372036854775807", "1e3", ""])
    func limits(limit: String) throws {
        let server = try RunningServer(token: nil) { $0.embeddingOrigins = [Self.friend] }
        let query = "&maxwidth=\(limit)&maxheight=\(limit)&maxwidth=10"
        let code = try json(server.request("GET", Self.request("http://127.0.0.1/#desk", query)))
        #expect(code["width"] as? Int == 1280 && code["height"] as? Int == 720)
    }

    @Test("a room's name is escaped in the embedding code")
    func quotes() throws {
        let server = try RunningServer {
            $0.rooms = [RoomConfiguration(name: "\"><b>&'", token: nil)]
            $0.embeddingOrigins = [Self.friend]
        }
        let code = try json(server.request("GET", Self.request("http://127.0.0.1/")))
        let html = try #require(code["html"] as? String)
        #expect(html.hasPrefix("<iframe src=\"http://127.0.0.1/#%22%3E%3Cb%3E%26%27\" width="))
    }

    @Test("a link with a token has no embedding code, and no answer reveals which rooms exist")
    func privateLinks() throws {
        let open = try RunningServer(token: nil) { $0.embeddingOrigins = [Self.friend] }
        let server = try RunningServer { $0.embeddingOrigins = [Self.friend] }
        #expect(try server.request("GET", "/").headers["link"] == nil)
        let refused = try server.request("GET", Self.request("http://127.0.0.1/#desk,secret"))
        #expect(refused.status == 401)
        for link in ["#desk", "#attic", "#attic,secret", "", "#desk%2Csecret", "#%"] {
            let answer = try server.request("GET", Self.request("http://127.0.0.1/\(link)"))
            #expect(answer.timeless == refused.timeless, "\(link)")
        }
        #expect(try open.request("GET", Self.request("http://127.0.0.1/#desk,secret")).status == 401)
        #expect(try open.request("GET", Self.request("http://127.0.0.1/#attic")).status == 401)
        let long = String(repeating: "a", count: 20_000)
        #expect(try open.request("GET", Self.request("http://127.0.0.1/#\(long)")).timeless == refused.timeless)
        let locked = try RunningServer {
            $0.rooms = [RoomConfiguration(name: "desk", access: RoomAccess(viewing: nil, isPassword: { $0 == "open" }))]
            $0.embeddingOrigins = [Self.friend]
        }
        for link in ["#desk", "#desk,,open", ""] {
            let answer = try locked.request("GET", Self.request("http://127.0.0.1/\(link)"))
            #expect(answer.timeless == refused.timeless, "\(link)")
        }
        #expect(try locked.request("GET", "/").headers["link"] == nil)
    }

    @Test("a link of another host has no embedding code, and the only format is JSON")
    func mistakes() throws {
        let server = try RunningServer(token: nil) { $0.embeddingOrigins = [Self.friend] }
        for link in [
            "https://other.example/#desk", "127.0.0.1/#desk", "http://127.0.0.1:1/#desk", "javascript:1", "",
            "http://127.0.0.1@other.example/#desk", "http://127.0.0.1.other.example/#desk",
            "http://127.0.0.1\\@other.example/#desk", "http://other.example/?http://127.0.0.1/#desk",
            "http://127.0.0.1/\r\n#desk",
        ] {
            #expect(try server.request("GET", Self.request(link)).status == 404, "\(link)")
        }
        #expect(try server.request("GET", "/oembed").status == 404)
        #expect(try server.request("GET", Self.request("http://127.0.0.1/#desk", "&format=xml")).status == 501)
        #expect(try server.request("POST", Self.request("http://127.0.0.1/#desk")).status == 405)
    }
}
