import Foundation
import MediaTypes
import Processes
import TestSupport
import Testing

@testable import Signalling

/// Requests over a connection that has carried others (RFC 9112 section 9.3).
@Suite("Kept connections")
struct KeptConnectionTests {
    private let sdp = ["Authorization": "Bearer secret", "Content-Type": "application/sdp"]
    private let get = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"

    @Test("one connection carries requests of every kind, one after the other")
    func requests() throws {
        let server = try RunningServer()
        let client = try TestSocket(port: server.port)
        #expect(try client.request("HEAD", "/").status == 200)
        let page = try client.request("GET", "/")
        #expect(page.status == 200 && page.headers["connection"] == nil)
        let tag = try #require(page.headers["etag"])
        #expect(try client.request("GET", "/", ["If-None-Match": tag]).status == 304)
        #expect(try client.request("OPTIONS", "/whep/desk").status == 200)
        let opened = try client.request("POST", "/whep/desk", sdp, body: "v=0\r\n")
        #expect(opened.status == 201)
        let session = try #require(opened.headers["location"])
        // A body that nobody reads is no part of the next request.
        #expect(try client.request("HEAD", "/healthz", body: "GET / HTTP/1.1\r\n\r\n").status == 204)
        #expect(try client.request("DELETE", session, sdp).status == 200)
        #expect(client.received.isEmpty)
        // A WebSocket is the last that it carries.
        #expect(try client.request("GET", "/ws", WebSocketClient.upgradeHeaders).status == 101)
        try client.send(WebSocketClient.frame(9, Array("still here".utf8)))
        #expect(try client.take(12).suffix(10).elementsEqual("still here".utf8))
    }

    @Test("requests that come before the answers to earlier ones are answered in their order")
    func pipelined() throws {
        let server = try RunningServer()
        let client = try TestSocket(port: server.port)
        let post = "POST /whep/desk HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\n"
        try client.send(
            get + "\r\n" + post + "Content-Type: application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n" + get
                + "\r\nGET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        #expect(try client.response().status == 204)
        #expect(try client.response().status == 201)
        #expect(try client.response().status == 204)
        try client.send("\r\n" + get + "Connection: close\r\n\r\n")
        #expect(try client.response().body.isEmpty == false)
        #expect(try client.response().headers["connection"] == "close")
        try client.waitForEnd()
    }

    @Test(
        "a connection is closed where the client asks for it or may not know of it, and after an error",
        arguments: [
            "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: TE, Close\r\n\r\n",
            "GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n",
            "GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n",
            "GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n",
            "POST /whep/desk HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nv=0\r\n",
            "PUT / HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n12345",
            "POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: +5\r\n\r\n12345",
            "POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n12345",
            "GET / HTTP/1.1\r\n\r\n",
        ])
    func closed(request: String) throws {
        let server = try RunningServer()
        let client = try TestSocket(port: server.port)
        try client.send(request + get + "\r\n")
        try client.waitForEnd()
        let text = String(decoding: client.received, as: UTF8.self)
        #expect(text.split(separator: "HTTP/1.").count(where: { !$0.hasPrefix("1 100") }) <= 2, "\(text)")
        #expect(!text.contains("\r\n\r\nHTTP/1.1 204"), "\(text)")
    }

    @Test("a connection carries a hundred requests, and says so with the last")
    func last() throws {
        let server = try RunningServer()
        let client = try TestSocket(port: server.port)
        try client.send(String(repeating: get + "\r\n", count: 101))
        for _ in 0..<99 { #expect(try client.response().headers["connection"] == nil) }
        #expect(try client.response().headers["connection"] == "close")
        try client.waitForEnd()
        #expect(client.received.isEmpty)
    }

    @Test("a connection between two requests is closed in time, and one in the middle of its second request too")
    func idleTime() throws {
        let server = try RunningServer {
            $0.limits.idleTime = .milliseconds(300)
            $0.limits.requestTime = .seconds(3)
        }
        let idle = try TestSocket(port: server.port)
        #expect(try idle.request("GET", "/healthz").status == 204)
        let slow = try TestSocket(port: server.port)
        #expect(try slow.request("GET", "/healthz").status == 204)
        try slow.send("GET / HT")
        try idle.waitForEnd()
        try slow.waitForEnd()
    }

    @Test("between requests a connection makes room for a new one, whatever its client has shown before")
    func room() throws {
        let server = try RunningServer { $0.limits.connections = 3 }
        let member = try WebSocketClient(port: server.port)
        _ = try member.joinAsViewer("desk,secret")
        var kept: [TestSocket] = []
        for _ in 0..<12 {
            let client = try TestSocket(port: server.port)
            #expect(try client.request("POST", "/whep/desk", sdp, body: "v=0\r\n").status == 201)
            kept.append(client)
        }
        for client in kept.dropLast(2) { try client.waitForEnd() }
        #expect(try kept[11].request("GET", "/healthz").status == 204)
        _ = try member.joinAsViewer("desk,secret")
    }

    @Test("who closes a connection between two requests leaves nothing behind")
    func left() throws {
        let server = try RunningServer()
        for _ in 0..<20 { #expect(try server.request("GET", "/healthz").status == 204) }
        /// The server's connections that their clients have closed, as the kernel lists them (proc(5)).
        func closedByClient() throws -> Int {
            let port = String(server.port, radix: 16, uppercase: true)
            let local = "0100007F:" + String(repeating: "0", count: 4 - port.count) + port
            return try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n").count { line in
                let fields = line.split(separator: " ")
                return fields.count > 3 && fields[1] == local && fields[3] == Self.closeWait
            }
        }
        try eventually("all of them to be closed") { try closedByClient() == 0 }
    }

    private static let closeWait = "08"

    @Test("the end of the server ends connections between two requests")
    func stopping() throws {
        let server = try RunningServer()
        let client = try TestSocket(port: server.port)
        #expect(try client.request("GET", "/healthz").status == 204)
        server.server.stop()
        try client.waitForEnd()
    }

    @Test(
        "curl asks twice over one connection, with and without TLS",
        .enabled(if: ProgramLookup.path(of: "curl") != nil), arguments: [false, true])
    func curl(isSecure: Bool) throws {
        let certificate = try TLSCertificate(pem: TestCertificate.pem, names: TestCertificate.names)
        let server = try RunningServer { $0.tls = isSecure ? certificate : nil }
        let folder = try TemporaryFolder()
        try folder.write("ca.pem", Array(TestCertificate.certificate.utf8))
        let address = "\(isSecure ? "https" : "http")://localhost:\(server.port)"
        var launch = Launch(
            "curl",
            [
                "--silent", "--max-time", "10", "--cacert", folder.file("ca.pem"), "--write-out",
                "%{num_connects} %{http_code}\n", "--output", "/dev/null", "--output", "/dev/null", address + "/",
                address + "/favicon.svg",
            ])
        launch.standardOutput = .text(limit: 1000)
        let (_, output, _) = try ChildProcess.run(launch, within: .seconds(15))
        #expect(output == "1 200\n0 200\n")
    }
}
