import Foundation
import TestSupport
import Testing

@testable import Signalling

@Suite("Whose page may use socket.io")
struct SocketIOOriginTests {
    private let opening = "/socket.io/?EIO=3&transport=polling"

    @Test("a foreign page gets no session and can't read the answer")
    func foreign() throws {
        let server = try callingServer()
        for method in ["GET", "OPTIONS"] {
            let answer = try server.request(method, opening, ["Origin": "http://evil.example"])
            #expect(answer.status == 403)
            #expect(answer.text == "{\"code\":4,\"message\":\"Forbidden\"}")
            #expect(answer.headers["access-control-allow-origin"] == nil)
        }
        #expect(throws: TestSocket.Failure.self) {
            _ = try WebSocketClient(
                port: server.port, path: "/socket.io/?transport=websocket", ["Origin": "http://evil.example"])
        }
    }

    @Test("a foreign page can't have its browser open sessions without an origin either")
    func embedded() throws {
        let server = try callingServer()
        for site in ["cross-site", "same-site"] {
            #expect(try server.request("GET", opening, ["Sec-Fetch-Site": site]).status == 403)
        }
        for site in ["same-origin", "none"] {
            #expect(try server.request("GET", opening, ["Sec-Fetch-Site": site]).status == 200)
        }
    }

    @Test("an origin that was allowed by name asks with credentials, as clients of version 3 do")
    func allowed() throws {
        let server = try callingServer { $0.allowedOrigins = ["https://call.example"] }
        let origin = ["Origin": "https://call.example"]
        let answer = try server.request("GET", opening, origin)
        #expect(answer.status == 200)
        #expect(answer.headers["access-control-allow-origin"] == "https://call.example")
        #expect(answer.headers["access-control-allow-credentials"] == "true")
        let preflight = try server.request("OPTIONS", opening, origin)
        #expect(preflight.status == 204)
        #expect(preflight.headers["access-control-allow-methods"] == "OPTIONS, GET, POST")
        #expect(preflight.headers["access-control-allow-headers"] == "Content-Type")
        #expect(preflight.headers["access-control-allow-credentials"] == "true")
        _ = try WebSocketClient(port: server.port, path: "/socket.io/?transport=websocket", origin)
    }

    @Test("an iOS client names this server's own address as a WebSocket's")
    func own() throws {
        let server = try callingServer()
        let host = "127.0.0.1:\(server.port)"
        let answer = try server.request("GET", opening, host: host, ["Origin": "ws://\(host)"])
        #expect(answer.status == 200)
        #expect(answer.headers["access-control-allow-credentials"] == nil)
        #expect(RequestOrigin(header: "ws://a:1", host: "a:1", isSecured: false, allowed: []) == .ours)
        #expect(RequestOrigin(header: "wss://a", host: "a", isSecured: true, allowed: []) == .ours)
        #expect(RequestOrigin(header: "http://a", host: "a", isSecured: false, allowed: []) == .ours)
        #expect(RequestOrigin(header: "http://a", host: "a", isSecured: true, allowed: []) == .foreign("http://a"))
        #expect(RequestOrigin(header: "ws://b:1", host: "a:1", isSecured: false, allowed: []) == .foreign("ws://b:1"))
    }
}
