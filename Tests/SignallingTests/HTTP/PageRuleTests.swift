import ByteCoding
import Foundation
import MediaTypes
import Testing

@testable import Signalling

@Suite("The page's rules")
struct PageRuleTests {
    @Test("every file forbids inline code, frames, forms, plug-ins and devices of other origins")
    func headers() throws {
        let server = try RunningServer()
        for path in ["/", "/index.html", "/join/viewer.js", "/favicon.svg"] {
            let answer = try server.request("GET", path, host: "127.0.0.1:\(server.port)")
            let policy = try #require(answer.headers["content-security-policy"])
            for rule in [
                "default-src 'self'", "media-src 'self' blob:", "frame-ancestors 'none'", "form-action 'none'",
                "base-uri 'none'",
                "object-src 'none'", "require-trusted-types-for 'script'",
                "connect-src 'self' ws://127.0.0.1:\(server.port) wss://127.0.0.1:\(server.port)",
            ] {
                #expect(policy.split(separator: ";").contains { $0.drop { $0 == " " } == rule }, "\(rule) in \(policy)")
            }
            #expect(answer.headers["cross-origin-opener-policy"] == "same-origin")
            #expect(answer.headers["strict-transport-security"] == nil)
            #expect(!policy.contains("unsafe") && !policy.contains("*"))
            let permissions = try #require(answer.headers["permissions-policy"])
            #expect(permissions.contains("camera=(self), microphone=(self)"))
        }
    }

    @Test("a browser that does not trust the origin gets no policy for its opener, which it would report as an error")
    func opener() throws {
        let server = try RunningServer { $0.lan = true }
        func policy(_ host: String, _ headers: [String: String] = [:]) throws -> String? {
            try server.request("GET", "/", host: host, headers).headers["cross-origin-opener-policy"]
        }
        #expect(try policy("192.168.1.2:\(server.port)") == nil)
        for host in ["localhost:8080", "127.0.0.1", "[::1]:8080"] { #expect(try policy(host) == "same-origin") }
        #expect(try policy("192.168.1.2", ["Sec-Fetch-Site": "none"]) == "same-origin")
    }

    @Test("the page has only the scripts and the style that its policy names, and nothing from elsewhere")
    func inline() throws {
        let server = try RunningServer()
        let page = try server.request("GET", "/")
        let policy = try #require(page.headers["content-security-policy"])
        var html = page.text
        var hashes: [String] = []
        for tags in ["<script>", "<script type=\"module\">", "<style>"] {
            let parts = html.split(separator: tags, maxSplits: 1)
            let end = tags == "<style>" ? "</style>" : "</script>"
            let rest = try #require(parts.last).split(separator: end, maxSplits: 1)
            var hash = SHA256()
            hash.update(try #require(rest.first).utf8)
            hashes.append("'sha256-\(Data(hash.finish()).base64EncodedString())'")
            html = String(try #require(parts.first) + #require(rest.last))
        }
        #expect(policy.contains("script-src 'self' \(hashes[0]) \(hashes[1]); style-src 'self' \(hashes[2]);"))
        for (pattern, what) in [
            (try Regex("<style"), "a style element"), (try Regex("\\sstyle\\s*="), "a style attribute"),
            (try Regex("<script"), "a script"),
            (try Regex("\\son[a-z]+\\s*="), "a handler"),
            (try Regex("javascript:"), "a link that is code"), (try Regex("(src|href)=\"[a-z]*:?//"), "a foreign file"),
        ] {
            let hasMatch = html.firstMatch(of: pattern.ignoresCase()) != nil
            #expect(!hasMatch, "\(what)")
        }
    }
}
