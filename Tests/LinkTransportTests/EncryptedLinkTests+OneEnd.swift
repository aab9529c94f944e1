import MediaTypes
import TestSupport
import Testing

@testable import LinkTransport

/// Links that only one end encrypts.
extension EncryptedLinkTests {
    @Test("a host that doesn't encrypt is told apart, and one that closes at once may be tried again")
    func otherHosts() throws {
        let plain = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        for isTalking in [true, false] {
            let dial = try LinkDial(to: address(plain.address.network?.port), token: token)
            var host: SocketConnection?
            let error = try eventually("the failure", within: .seconds(4)) { () throws -> SocketError? in
                if host == nil, let next = try plain.accept() {
                    try next.enqueue(header: isTalking ? [0x26] + [UInt8](repeating: 0, count: 63) : [])
                    if !isTalking { next.close() }
                    host = next
                }
                return failure { () throws(SocketError) in _ = try dial.advance() }
            }
            if isTalking {
                #expect(error.description.contains("was started with tcp:, not tls:") && error.kind == .permission)
            } else {
                #expect(error.isRetryable, "\(error)")
            }
        }
    }

    @Test(
        "a peer that doesn't encrypt is told that the host does, if it speaks first or waits", arguments: ["&", ""])
    func unencrypted(word: String) throws {
        let (name, port) = try #require(listener.address.network)
        let peer = try SocketConnection.connect(to: .tcp(host: name, port: port))
        let host = try eventually("it") { try listener.accept() }
        #expect(host.awaitsHandshake)
        var buffer = [UInt8](repeating: 0, count: 100)
        if word.isEmpty {
            host.tellEncryption()
        } else {
            // More than the host reads: what it has said arrives all the same.
            try peer.enqueue(header: Array(String(repeating: word, count: 10_000).utf8))
            let error = try eventually("the refusal") {
                failure { () throws(SocketError) in
                    var first: [UInt8] = [0]
                    _ = try host.receive(into: &first)
                }
            }
            #expect(error.description.hasPrefix("127.0.0.1 is refused: it doesn't encrypt its link"), "\(error)")
            #expect(error.kind == .permission)
        }
        host.close()
        let told = try eventually("what it is told") { () throws -> [UInt8]? in
            guard case .bytes(let count) = try peer.receive(into: &buffer) else { return nil }
            return Array(buffer[..<count])
        }
        #expect(told == [0x15, 3, 3, 0, 2, 1, 0])
    }

    @Test("a capture that is told so before it could begin its handshake tries again")
    func late() throws {
        let plain = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        let dial = try LinkDial(to: address(plain.address.network?.port), token: token)
        let host = try eventually("the connection") { try plain.accept() }
        try host.enqueue(header: [0x15, 3, 3, 0, 2, 1, 0])
        host.close()
        let error = try eventually("the end") {
            failure { () throws(SocketError) in _ = try dial.advance() }
        }
        #expect(error.isRetryable, "\(error)")
    }
}
