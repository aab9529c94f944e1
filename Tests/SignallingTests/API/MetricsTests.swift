import LinkTransport
import Testing

@testable import Signalling

@Suite("Who may read the metrics")
struct MetricsTests {
    private static let text = "# TYPE screenrelay_viewers gauge\nscreenrelay_viewers 3\n"
    private let admin = ["Authorization": "Bearer master"]

    private func server(_ change: (inout SignallingConfiguration) -> Void = { _ in }) throws -> RunningServer {
        try RunningServer {
            $0.metrics.use { Self.text }
            $0.administration = Administration(token: "master", allowsNetwork: false)
            change(&$0)
        }
    }

    @Test("no other spelling leads to them or to the interface, past a proxy that refuses only these paths")
    func spelling() throws {
        let server = try server()
        #expect(try server.request("GET", "/metrics").status == 200)
        #expect(try server.request("GET", "/api/status").status == 401)
        for path in ["//metrics", "/metrics/", "//api/status", "/api//status"] {
            #expect(try server.request("GET", path).status == 404, "\(path)")
        }
    }

    @Test("a program on this machine gets them without a token, as Prometheus wants them")
    func local() throws {
        let server = try server()
        let answer = try server.request("GET", "/metrics")
        #expect(answer.status == 200 && answer.text == Self.text)
        #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer.headers["cache-control"] == "no-store" && answer.headers["access-control-allow-origin"] == nil)
        let head = try server.request("HEAD", "/metrics")
        #expect(head.status == 200 && head.text.isEmpty)
        #expect(try server.request("POST", "/metrics").headers["allow"] == "GET, HEAD")
        #expect(try server.request("GET", "/metrics/x").status == 404)
        #expect(try server.request("GET", "/metrics", admin).text == Self.text)
        #expect(try server.request("GET", "/metrics", ["Authorization": "Bearer secret"]).status == 401)
    }

    @Test("a request that came through a proxy needs the token, whatever it says of its client")
    func forwarded() throws {
        let server = try server()
        for header in ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"] {
            #expect(try server.request("GET", "/metrics", [header: "for=127.0.0.1"]).status == 401, "\(header)")
        }
        #expect(try server.request("GET", "/metrics", admin.merging(["Via": "1.1 a"]) { $1 }).status == 200)
        // Another machine has no access at all, even with the token, unless the host lets the network use /api.
        let trusting = try self.server { $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 } }
        #expect(try trusting.request("GET", "/metrics").status == 401)
        let far = admin.merging(["X-Forwarded-For": "203.0.113.7"]) { $1 }
        #expect(try trusting.request("GET", "/metrics", far).status == 403)
        let open = try self.server {
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
            $0.administration = Administration(token: "master", allowsNetwork: true)
        }
        #expect(try open.request("GET", "/metrics", far).status == 200)
        #expect(try open.request("GET", "/metrics", ["X-Forwarded-For": "203.0.113.7"]).status == 401)
    }

    @Test("pages of other sites get nothing, nor do names that aren't the host's")
    func otherSites() throws {
        let server = try server()
        #expect(try server.request("GET", "/metrics", ["Origin": "https://example.org"]).status == 403)
        #expect(try server.request("GET", "/metrics", ["Sec-Fetch-Site": "cross-site"]).status == 401)
        #expect(try server.request("GET", "/metrics", host: "example.org").status == 421)
    }

    @Test("a host without a token for /api has metrics on this machine alone, and one without metrics has none")
    func without() throws {
        let server = try self.server { $0.administration = nil }
        #expect(try server.request("GET", "/metrics").status == 200)
        #expect(try server.request("GET", "/metrics", ["Via": "1.1 a"]).status == 404)
        let none = try RunningServer()
        #expect(try none.request("GET", "/metrics").status == 404)
    }
}
