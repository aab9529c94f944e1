import Foundation
import Testing

@testable import Signalling

@Suite("Opening a WebSocket to a server")
struct ClientHandshakeTests {
    /// RFC 6455 section 1.3 has this very key and answer.
    private static let accepted = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    private static let head =
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept:  \(accepted)\r\n"

    private func handshake(_ change: (inout WebSocketAddress) -> Void = { _ in }) -> ClientHandshake {
        var address = WebSocketAddress(host: "[::1]", port: 80, isSecure: false, target: "/ws?a=b")
        change(&address)
        return ClientHandshake(to: address, nonce: Array("the sample nonce".utf8))
    }

    private func lines(_ handshake: ClientHandshake) -> [String] {
        String(decoding: handshake.request, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    @Test("the request names the host, with its port unless that is the usual one, and the RFC's key")
    func request() {
        let lines = lines(handshake())
        #expect(lines.first == "GET /ws?a=b HTTP/1.1" && lines.suffix(2) == ["", ""])
        #expect(lines.contains("Host: [::1]") && lines.contains("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="))
        #expect(!lines.contains { $0.hasPrefix("Sec-WebSocket-Protocol") })
        let other = self.lines(handshake { ($0.isSecure, $0.subprotocol) = (true, "janus-protocol") })
        #expect(other.contains("Host: [::1]:80") && other.contains("Sec-WebSocket-Protocol: janus-protocol"))
    }

    @Test("the response may come in pieces, with the first frames behind it", arguments: [1, 7, 1000])
    func pieces(size: Int) throws {
        let bytes = Array((Self.head + "\r\n").utf8)
        var handshake = handshake()
        for start in stride(from: 0, to: bytes.count, by: size) {
            let isLast = start + size >= bytes.count
            let rest = try handshake.take(bytes[start..<min(start + size, bytes.count)] + (isLast ? [1, 2] : []))
            #expect(rest == (isLast ? [1, 2] : nil))
        }
    }

    @Test(
        "what isn't the answer to our request is refused",
        arguments: [
            "SSH-2.0-x\r\n\r\n", "HTTP/1.1\r\n\r\n", "\r\n\r\n", "HTTP/1.1 101 Yes\r\n\r\n",
            head.replacingOccurrences(of: "s3pP", with: "S3pP") + "\r\n",
            head + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
            head + "Sec-WebSocket-Protocol: other\r\n\r\n",
            String(repeating: "x", count: 20_000),
        ])
    func refused(_ text: String) {
        var handshake = handshake()
        #expect(throws: WebSocketError.notWebSocket) { try handshake.take(Array(text.utf8)) }
    }

    @Test("another status is told", arguments: [200, 302, 401, 404, 503])
    func status(_ status: Int) {
        var handshake = handshake()
        let head = "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n"
        #expect(throws: WebSocketError.refused(status: status)) { try handshake.take(Array(head.utf8)) }
    }

    @Test("a subprotocol that was asked for has to be taken")
    func subprotocol() throws {
        var handshake = handshake { $0.subprotocol = "janus-protocol" }
        #expect(throws: WebSocketError.notWebSocket) { try handshake.take(Array((Self.head + "\r\n").utf8)) }
        var other = self.handshake { $0.subprotocol = "janus-protocol" }
        let rest = try other.take(Array((Self.head + "Sec-WebSocket-Protocol: janus-protocol\r\n\r\n").utf8))
        #expect(rest == [])
    }
}
