import Foundation
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@testable import Signalling

/// What one address may do, and what that means for others.
extension AccessTests {
    @Test("a right token is never refused because of wrong ones, from the same network either")
    func rightAmongWrong() throws {
        let server = try RunningServer {
            $0.trustedProxies = [AddressRange("127.0.0.0/8")].compactMap { $0 }
            $0.administration = Administration(token: "admin", allowsNetwork: true)
            $0.limits.requestsPerSecond = 1
            $0.limits.requestsAtOnce = 10
        }
        func from(_ host: Int, _ headers: [String: String]) -> [String: String] {
            headers.merging(["X-Forwarded-For": "2001:db8::\(host)"]) { $1 }
        }
        var wrong: [Int] = []
        for _ in 0..<100 {
            wrong.append(try server.request("GET", "/whep/desk", from(1, bearer("wrong"))).status)
            _ = try server.request("GET", "/api/rooms", from(1, bearer("wrong")))
            let guess = try WebSocketClient(port: server.port, from(1, [:]))
            try guess.send(event: "__join", "{\"room\":\"desk,wrong\"}")
            #expect(try guess.next(event: "_refused")["reason"] == nil)
        }
        #expect(wrong.prefix(6) == [401, 401, 401, 401, 401, 401])
        #expect(wrong.suffix(50).allSatisfy { $0 == 429 })
        // A viewer of the same /64 opens the page and joins, and a player comes too.
        #expect(try server.request("GET", "/", from(2, [:])).status == 200)
        _ = try WebSocketClient(port: server.port, from(2, [:])).joinAsViewer("desk,secret")
        #expect(try server.request("GET", "/whep/desk", from(2, bearer("secret"))).status == 200)
        #expect(try server.request("GET", "/api/rooms", from(2, bearer("admin"))).status == 200)
        // Also from the very address.
        _ = try WebSocketClient(port: server.port, from(1, [:])).joinAsViewer("desk,secret")
        #expect(try server.request("GET", "/whep/desk", from(1, bearer("secret"))).status == 200)
    }

    @Test("no address fills a room, behind a trusted proxy either")
    func crowd() throws {
        let server = try RunningServer {
            $0.trustedProxies = [AddressRange("127.0.0.0/8")].compactMap { $0 }
            $0.limits.participantsPerAddress = 2
        }
        func from(_ address: String) throws -> WebSocketClient {
            try WebSocketClient(port: server.port, ["X-Forwarded-For": address])
        }
        var first: WebSocketClient? = try from("2001:db8::1")
        _ = try first?.joinAsViewer("desk,secret")
        let second = try from("2001:db8::2")
        _ = try second.joinAsViewer("desk,secret")
        let third = try from("2001:db8::3")
        try third.send(event: "__join", "{\"room\":\"desk,secret\"}")
        _ = try third.next(event: "_refused")
        #expect(try third.next() == .close(4503))
        _ = try from("2001:db8:0:1::1").joinAsViewer("desk,secret")
        // Who is in it already may change rooms or roles, and who leaves makes room.
        _ = try second.joinAsViewer("desk,secret")
        first = nil
        try eventually("room for another") {
            let next = try from("2001:db8::4")
            try next.send(event: "__join", "{\"room\":\"desk,secret\"}")
            guard case .text(let text) = try next.next() else { return false }
            return text.contains("_peers")
        }
    }

    @Test("one customer's IPv6 network of 48 bits fills no room, whatever addresses it uses")
    func networkCrowd() throws {
        let server = try RunningServer {
            $0.trustedProxies = [AddressRange("127.0.0.0/8")].compactMap { $0 }
            $0.limits.participantsPerAddress = 2
        }
        func answer(_ address: String) throws -> Int {
            let headers = ["Authorization": "Bearer secret", "Content-Type": "application/sdp"]
            let from = headers.merging(["X-Forwarded-For": address]) { $1 }
            return try server.request("POST", "/whep/desk", from, body: "v=0").status
        }
        // Eight times as many as one address.
        for number in 0..<16 { #expect(try answer("2001:db8:7:\(number)::1") == 201) }
        #expect(try answer("2001:db8:7:ff::1") == 429)
        #expect(try answer("2001:db8:8::1") == 201)
    }

    @Test("requests from this machine have no limit, because a reverse proxy makes them for all; others have one")
    func loopbackRate() throws {
        let server = try RunningServer {
            $0.trustedProxies = [AddressRange("127.0.0.0/8")].compactMap { $0 }
            $0.limits.requestsPerSecond = 1
            $0.limits.requestsAtOnce = 3
        }
        let local = try (0..<20).map { _ in try server.request("GET", "/").status }
        #expect(local.allSatisfy { $0 == 200 })
        let remote = try (0..<20).map { _ in
            try server.request("GET", "/", ["X-Forwarded-For": "203.0.113.9"]).status
        }
        #expect(remote.first == 200 && remote.contains(429))
    }

    @Test("wrong passwords lock out their address alone, and right ones lock out nobody")
    func passwordsByAddress() throws {
        let server = try guarded {
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
            $0.attemptClock = { 1000 }
        }
        func status(_ address: String, _ password: String) throws -> Int {
            let headers = bearer("secret,\(password)", ["Forwarded": "for=\(address)"])
            return try server.request("GET", "/whep/desk", headers).status
        }
        for _ in 0..<300 { #expect(try status("192.0.2.1", Self.encoded) == 200) }
        for _ in 0..<20 { #expect(try status("192.0.2.1", "wrong") == 401) }
        #expect(try status("192.0.2.1", "wrong") == 429)
        #expect(try status("192.0.2.2", Self.encoded) == 200)
        #expect(try status("192.0.2.2", "wrong") == 401)
    }
}
