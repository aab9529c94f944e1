import ByteCoding
import Foundation
import LinkTransport
import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Tokens, passwords and expiry")
struct AccessTests {
    private let offer = ["Content-Type": "application/sdp"]

    func bearer(_ credentials: String, _ more: [String: String] = [:]) -> [String: String] {
        more.merging(["Authorization": "Bearer \(credentials)"]) { $1 }
    }

    func guarded(_ change: @escaping (inout SignallingConfiguration) -> Void = { _ in }) throws -> RunningServer {
        try RunningServer {
            $0.rooms[0].access = RoomAccess(
                viewing: "secret", presenting: "stage", isPassword: { $0 == "öffne dich, Sesam" })
            change(&$0)
        }
    }

    static let encoded = "%C3%B6ffne%20dich,%20Sesam"

    @Test("who may present may view as well")
    func presenter() throws {
        let server = try RunningServer {
            $0.rooms[0].access = RoomAccess(viewing: "secret", presenting: "stage")
        }
        for token in ["secret", "stage"] {
            #expect(try server.request("POST", "/whep/desk", bearer(token, offer), body: "v=0\r\n").status == 201)
            _ = try WebSocketClient(port: server.port).joinAsViewer("desk,\(token)")
        }
        #expect(try server.request("GET", "/whep/desk", bearer("stag")).status == 401)
    }

    @Test("players give the password in a header, or behind the token")
    func playerPassword() throws {
        let server = try guarded()
        #expect(
            try server.request("GET", "/whep/desk", bearer("secret", ["X-Room-Password": Self.encoded])).status == 200)
        #expect(try server.request("GET", "/whep/desk", bearer("secret,\(Self.encoded)")).status == 200)
        #expect(try server.request("GET", "/whep/desk", bearer("stage,\(Self.encoded)")).status == 200)
        for headers in [
            bearer("secret"), bearer("secret,"), bearer("secret,wrong"), bearer("secret", ["X-Room-Password": "wrong"]),
            bearer("secret", ["X-Room-Password": "%C3"]), bearer("secret", ["X-Room-Password": "%"]),
        ] {
            let answer = try server.request("GET", "/whep/desk", headers)
            #expect(answer.status == 401)
            #expect(answer.text == "this room needs its password too; send it in X-Room-Password\n")
            #expect(answer.headers["x-room-password"] == "needed")
        }
    }

    @Test("without the token nobody learns that there is a password, whether his is right or not")
    func hiddenPassword() throws {
        let server = try guarded()
        var answers: [RawResponse] = []
        for (room, headers) in [
            ("desk", bearer("wrong")), ("desk", bearer("wrong,\(Self.encoded)")), ("desk", bearer("wrong,wrong")),
            ("desk", ["X-Room-Password": Self.encoded]), ("attic", bearer("secret,\(Self.encoded)")), ("attic", [:]),
        ] {
            answers.append(try server.request("GET", "/whep/\(room)", headers).timeless)
        }
        let first = try #require(answers.first)
        #expect(first.status == 401 && first.text == "not allowed\n")
        #expect(first.headers["x-room-password"] == nil)
        #expect(answers.allSatisfy { $0 == first })
        for key in ["desk,wrong,öffne dich, Sesam", "attic,secret,öffne dich, Sesam", "desk,,öffne dich, Sesam"] {
            let client = try WebSocketClient(port: server.port)
            try client.send(event: "__join", "{\"room\":\"\(key)\"}")
            #expect(try client.next() == .text("{\"data\":{},\"eventName\":\"_refused\"}"))
            #expect(try client.next() == .close(4403))
        }
    }

    @Test(
        "a page is asked for the password by 4401, gives it beside the room, and a plain client within the room's name")
    func memberPassword() throws {
        let server = try guarded()
        for join in [
            "{\"room\":\"desk,secret\"}", "{\"room\":\"desk,secret\",\"password\":\"wrong\"}",
            "{\"room\":\"desk,secret,wrong\"}", "{\"room\":\"desk,secret\",\"password\":7}",
        ] {
            let client = try WebSocketClient(port: server.port)
            try client.send(event: "__join", join)
            #expect(try client.next() == .text("{\"data\":{\"password\":true},\"eventName\":\"_refused\"}"))
            #expect(try client.next() == .close(4401))
        }
        for join in [
            "{\"room\":\"desk,secret\",\"password\":\"öffne dich, Sesam\"}",
            "{\"room\":\"desk,secret,öffne dich, Sesam\"}",
        ] {
            let client = try WebSocketClient(port: server.port)
            try client.send(event: "__join", join)
            _ = try client.next(event: "_peers")
        }
    }

    @Test(
        "after twenty wrong passwords an address isn't heard for a while, on loopback too, and the token stays unknown")
    func passwordGuesses() throws {
        let clock = TestClock()
        let server = try guarded { $0.attemptClock = { clock.now } }
        var statuses: [Int] = []
        for _ in 0..<24 {
            statuses.append(try server.request("GET", "/whep/desk", bearer("secret,wrong")).status)
        }
        #expect(statuses == Array(repeating: 401, count: 20) + Array(repeating: 429, count: 4))
        let right = try server.request("GET", "/whep/desk", bearer("secret,\(Self.encoded)"))
        #expect(right.status == 429 && right.reason == "Too Many Requests")
        #expect(right.headers["retry-after"] != nil)
        #expect(try server.request("GET", "/whep/desk", bearer("wrong,\(Self.encoded)")).text == "not allowed\n")
        // A page is asked again, as for a wrong one.
        let client = try WebSocketClient(port: server.port)
        try client.send(event: "__join", "{\"room\":\"desk,secret,öffne dich, Sesam\"}")
        #expect(try client.next(event: "_refused")["password"] as? Bool == true)
        #expect(try client.next() == .close(4401))
        // One each second is heard again.
        clock.now += 1
        #expect(try server.request("GET", "/whep/desk", bearer("secret,\(Self.encoded)")).status == 200)
        #expect(try server.request("GET", "/whep/desk", bearer("secret,wrong")).status == 401)
        #expect(try server.request("GET", "/whep/desk", bearer("secret,\(Self.encoded)")).status == 429)
    }

    @Test(
        "when a room's time is over those inside are told and removed, and its links open it no more than any other")
    func expiry() throws {
        let clock = TestClock()
        let server = try RunningServer {
            $0.rooms[0].access = RoomAccess(viewing: "secret", presenting: "stage", expiry: 2000)
            $0.lifetimeClock = { clock.now }
            // Looked at often.
            $0.limits.handshakeTime = .milliseconds(200)
        }
        let client = try WebSocketClient(port: server.port)
        let (_, host) = try client.joinAsViewer("desk,secret")
        try client.send(offer: "v=0", to: host)
        _ = try client.next(event: "_answer")
        let player = try server.request("POST", "/whep/desk", bearer("secret", offer), body: "v=0\r\n")
        #expect(player.status == 201)
        clock.now = 1999
        #expect(try server.request("GET", "/whep/desk", bearer("stage")).status == 200)
        clock.now = 2000
        #expect(try client.next(event: "_refused")["reason"] as? String == "this invite link has expired")
        #expect(try client.next() == .close(4411))
        try eventually("both sessions' end") {
            Set(server.media.state.withLock { $0.closed }.map(\.rawValue)) == [1, 2]
        }
        let session = try #require(player.headers["location"])
        #expect(try server.request("GET", session, bearer("secret")).status == 401)
        let unknown = try server.request("GET", "/whep/attic", bearer("secret")).timeless
        for token in ["secret", "stage"] {
            #expect(try server.request("GET", "/whep/desk", bearer(token)).timeless == unknown)
        }
        let late = try WebSocketClient(port: server.port)
        try late.send(event: "__join", "{\"room\":\"desk,secret\"}")
        #expect(try late.next() == .text("{\"data\":{},\"eventName\":\"_refused\"}"))
        #expect(try late.next() == .close(4403))
        #expect(server.server.audience(of: "desk") == RoomAudience())
        #expect(server.log.lines.withLock { $0 }.count { $0.contains("its invite links have expired") } == 1)
    }

    @Test("a wrong token takes as long as a room that isn't there, for its password isn't looked at")
    func timing() throws {
        let lookedAt = Mutex<[String]>([])
        let server = try RunningServer {
            $0.rooms[0].access = RoomAccess(
                viewing: "secret", presenting: "stage",
                isPassword: { password in
                    lookedAt.withLock { $0.append(password) }
                    return false
                })
        }
        for token in ["wrong", "secre", "stage2", ""] {
            for room in ["desk", "attic"] {
                let answer = try server.request("GET", "/whep/\(room)", bearer("\(token),\(Self.encoded)"))
                #expect(answer.status == 401)
            }
            let client = try WebSocketClient(port: server.port)
            try client.send(event: "__join", "{\"room\":\"desk,\(token),öffne dich, Sesam\"}")
            #expect(try client.next() == .text("{\"data\":{},\"eventName\":\"_refused\"}"))
        }
        #expect(lookedAt.withLock { $0 } == [])
        _ = try server.request("GET", "/whep/desk", bearer("secret,\(Self.encoded)"))
        #expect(lookedAt.withLock { $0 } == ["öffne dich, Sesam"])
    }

    @Test("a foreign page needs a secret in its own hands, which in an open room only presenters have")
    func foreignOrigin() throws {
        let server = try RunningServer { $0.rooms[0].access = RoomAccess(viewing: nil, presenting: "stage") }
        let foreign = ["Origin": "https://other.example"]
        #expect(try server.request("GET", "/whep/desk", foreign).status == 403)
        #expect(try server.request("GET", "/whep/desk", bearer("whatever", foreign)).status == 403)
        #expect(try server.request("GET", "/whep/desk", bearer("stage", foreign)).status == 200)
    }
}
