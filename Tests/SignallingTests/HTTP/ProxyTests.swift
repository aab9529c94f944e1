import LinkTransport
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Trusted proxies")
struct ProxyTests {
    private let proxies = TrustedProxies(
        ranges: ["10.0.0.0/8", "2001:db8:ff::/48", "192.0.2.1"].compactMap { AddressRange($0) })

    private func client(_ peer: String, forwarded: String? = nil, forwardedFor: String? = nil) throws -> String {
        try proxies.client(of: peer, forwarded: forwarded, forwardedFor: forwardedFor)
    }

    @Test("browsers on other machines keep the page for a while, and those on this one ask each time")
    func caching() throws {
        let server = try RunningServer { $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 } }
        func caching(of path: String, from client: String) throws -> String? {
            try server.request("GET", path, ["X-Forwarded-For": client]).headers["cache-control"]
        }
        #expect(try caching(of: "/", from: "203.0.113.7") == "private, max-age=3600")
        #expect(try caching(of: "/", from: "127.0.0.1") == "no-cache")
        #expect(try caching(of: "/picture/clock.js", from: "203.0.113.7") == "no-cache")
    }

    @Test("a range has the addresses that begin with its bits, and IPv4 written as IPv6 counts as IPv4")
    func ranges() throws {
        let range = try #require(AddressRange("192.0.2.64/26"))
        for address in ["192.0.2.64", "192.0.2.127", "::ffff:192.0.2.100"] { #expect(range.contains(address)) }
        for address in ["192.0.2.63", "192.0.2.128", "::1", "", "host"] { #expect(!range.contains(address)) }
        let all = try #require(AddressRange("::/0"))
        #expect(all.contains("fe80::1%eth0") && !all.contains("192.0.2.1"))
        let one = try #require(AddressRange("2001:db8::1"))
        #expect(one.contains("2001:DB8:0::1") && !one.contains("2001:db8::2"))
        for text in ["", "/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/", "10.0.0/8", "::/129", "a"] {
            #expect(AddressRange(text) == nil, "\(text)")
        }
    }

    @Test("the headers of an address that isn't a trusted proxy's are not believed")
    func strangers() throws {
        #expect(try client("198.51.100.1", forwardedFor: "203.0.113.9") == "198.51.100.1")
        #expect(try client("198.51.100.1", forwarded: "for=\"") == "198.51.100.1")
    }

    @Test("the client is the last address that isn't a trusted proxy, whatever stands before it")
    func chains() throws {
        #expect(try client("10.0.0.1") == "10.0.0.1")
        #expect(try client("10.0.0.1", forwardedFor: "203.0.113.9") == "203.0.113.9")
        #expect(try client("10.0.0.1", forwardedFor: "127.0.0.1, 203.0.113.9, 10.0.0.2") == "203.0.113.9")
        #expect(try client("10.0.0.1", forwardedFor: "203.0.113.9:4711, [2001:db8:ff::1]:80") == "203.0.113.9")
        #expect(try client("::ffff:10.0.0.1", forwardedFor: "2001:DB8::9") == "2001:db8::9")
        #expect(
            try client("10.0.0.1", forwarded: "for=192.0.2.43, For=\"[2001:db8:cafe::17]:4711\"; proto=https")
                == "2001:db8:cafe::17")
        #expect(try client("10.0.0.1", forwarded: "by=10.0.0.1;for=203.0.113.9;host=a") == "203.0.113.9")
        // Nobody knows who is behind one that is hidden.
        #expect(try client("10.0.0.1", forwarded: "for=203.0.113.9, for=_hidden") == "10.0.0.1")
        #expect(try client("10.0.0.1", forwardedFor: "203.0.113.9, unknown, 10.0.0.7") == "10.0.0.7")
        #expect(try client("10.0.0.1", forwardedFor: ",, ,") == "10.0.0.1")
    }

    @Test("a client counts as one on this machine only if its proxy is on this machine")
    func loopback() throws {
        for reported in ["127.0.0.1", "::1", "[::ffff:127.0.0.1]:80"] {
            #expect(try client("10.0.0.1", forwardedFor: reported) == "10.0.0.1")
            #expect(try client("10.0.0.1", forwarded: "for=\"\(reported)\"") == "10.0.0.1")
        }
        let local = TrustedProxies(ranges: ["127.0.0.1", "10.0.0.1"].compactMap { AddressRange($0) })
        #expect(try local.client(of: "127.0.0.1", forwarded: nil, forwardedFor: "127.0.0.2") == "127.0.0.2")
        #expect(
            try local.client(of: "10.0.0.1", forwarded: nil, forwardedFor: "203.0.113.9, 127.0.0.1") == "203.0.113.9")
    }

    @Test("a client can't hide behind a header of its own")
    func forged() throws {
        #expect(throws: TrustedProxies.ForwardingError.malformed) {
            try client("10.0.0.1", forwarded: "for=\"evil, for=203.0.113.9")
        }
        #expect(throws: TrustedProxies.ForwardingError.malformed) {
            try client("10.0.0.1", forwarded: "for=\"evil, for=\"[2001:db8::9]\"")
        }
        #expect(throws: TrustedProxies.ForwardingError.malformed) {
            try client("10.0.0.1", forwarded: "evil, for=203.0.113.9")
        }
        #expect(throws: TrustedProxies.ForwardingError.contradiction) {
            try client("10.0.0.1", forwarded: "for=198.51.100.7", forwardedFor: "203.0.113.9")
        }
        #expect(try client("10.0.0.1", forwarded: "for=203.0.113.9", forwardedFor: "203.0.113.9") == "203.0.113.9")
    }

    @Test("what a trusted proxy says counts for the log and the interface for administration, and a fault is told")
    func server() throws {
        let server = try RunningServer {
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
            $0.administration = Administration(token: "admin", allowsNetwork: false)
        }
        let admin = ["Authorization": "Bearer admin"]
        #expect(try server.request("GET", "/api/rooms", admin).status == 200)
        let remote = admin.merging(["X-Forwarded-For": "203.0.113.9"]) { $1 }
        #expect(try server.request("GET", "/api/rooms", remote).status == 403)
        let viewer = try WebSocketClient(port: server.port, ["X-Forwarded-For": "203.0.113.9"])
        _ = try viewer.joinAsViewer("desk,secret")
        #expect(server.log.lines.withLock { $0 }.contains("room desk: a viewer came from 203.0.113.9"))
        let both = ["X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.10"]
        let answer = try server.request("GET", "/", both)
        #expect(answer.status == 400 && answer.text.contains("name different clients"))
    }

    @Test("without a trusted proxy both headers are ignored")
    func untrusted() throws {
        let server = try RunningServer()
        let viewer = try WebSocketClient(port: server.port, ["X-Forwarded-For": "203.0.113.9", "Forwarded": "for=\""])
        _ = try viewer.joinAsViewer("desk,secret")
        #expect(server.log.lines.withLock { $0 }.contains("room desk: a viewer came from 127.0.0.1"))
    }
}
