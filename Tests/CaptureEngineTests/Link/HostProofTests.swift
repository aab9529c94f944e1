import CaptureLink
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@testable import CaptureEngine

@Suite("capture that has a capture key", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct HostProofTests {
    private static let token = Array("a token of some length".utf8)
    private static let nonce = [UInt8](repeating: 9, count: LinkProof.nonceCount)

    private let screen: VirtualScreen
    private let listener: SocketListener

    init() throws {
        screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
    }

    /// A capture with a token, or without one, and the host that it has connected to.
    private func pair(hasToken: Bool = true) throws -> (RunningCapture, ReceivingHost) {
        var configuration = CaptureConfiguration(link: listener.address)
        if hasToken { configuration.linkToken = LinkToken(Self.token) }
        let capture = try RunningCapture(configuration, display: screen.name)
        let connection = try eventually("the connection") { try listener.accept() }
        return (capture, try ReceivingHost(connection))
    }

    /// What capture answers to the host's challenge.
    private func answer(_ host: ReceivingHost) throws -> (nonce: [UInt8], code: [UInt8]) {
        try host.send(.challenge(nonce: Self.nonce))
        try host.sendHello()
        try host.wait(for: "the answer") { !host.messages.isEmpty }
        guard case .answer(let nonce, let code)? = host.messages.first?.body else { throw NoAnswer() }
        #expect(
            code == LinkProof.code(of: .capture, token: Self.token, hostNonce: Self.nonce, captureNonce: nonce))
        return (nonce, code)
    }

    private struct NoAnswer: Error {}

    /// How capture has ended, which left the host for good; nil where it was for another reason.
    private func refusal(_ capture: RunningCapture) throws -> String? {
        let end = try eventually("its end") { capture.end }
        guard case .failure(.link(.tokenRefused(let text))) = end else { return nil }
        return text
    }

    @Test("sends nothing but an answer before the host has proved that it has the token, and pictures then")
    func proven() throws {
        let (capture, host) = try pair()
        let (nonce, _) = try answer(host)
        let code = LinkProof.code(of: .host, token: Self.token, hostNonce: Self.nonce, captureNonce: nonce)
        try host.send(.proof(code: code))
        try host.wait(for: "a picture") { host.count > 0 }
        // Anything that had been sent meanwhile would stand between the answer and the hello.
        #expect(host.messages[1].header.kind == .hello && host.types(0).contains(5))
        capture.stop()
    }

    @Test("leaves a host that doesn't ask for the token, which may be anybody, or of an earlier version")
    func notAsked() throws {
        let (capture, host) = try pair()
        try host.sendHello()
        #expect(try refusal(capture)?.contains("doesn't ask for the --capture-key") == true)
        try host.wait(for: "the end") { host.hasEnded }
        #expect(host.messages.isEmpty)
    }

    @Test("leaves a host that can't prove that it has the token", arguments: [0, 1, 2])
    func notProven(way: Int) throws {
        let (capture, host) = try pair()
        let (nonce, code) = try answer(host)
        switch way {
        // Its own code sent back, another token's, and the right one of another connection.
        case 0: try host.send(.proof(code: code))
        case 1:
            let other = Array("another token, of some length".utf8)
            try host.send(
                .proof(code: LinkProof.code(of: .host, token: other, hostNonce: Self.nonce, captureNonce: nonce)))
        default:
            let code = LinkProof.code(of: .host, token: Self.token, hostNonce: Self.nonce, captureNonce: Self.nonce)
            try host.send(.proof(code: code))
        }
        #expect(try refusal(capture)?.contains("doesn't have the same --capture-key file") == true)
        try host.wait(for: "the end") { host.hasEnded }
        #expect(host.messages.count == 1)
    }

    @Test("tries again if another host takes the place of one that had accepted it, and leaves each at its first end")
    func replaced() throws {
        let (capture, host) = try pair()
        let (nonce, _) = try answer(host)
        let code = LinkProof.code(of: .host, token: Self.token, hostNonce: Self.nonce, captureNonce: nonce)
        try host.send(.proof(code: code))
        try host.send(.watched)
        try host.wait(for: "a picture") { host.count > 0 }
        try host.send(.end(EndNotice(reason: .stopped, text: String(repeating: "x", count: 60_000))))
        try host.wait(for: "the end") { host.hasEnded }
        for _ in 0..<2 {
            let connection = try eventually("another attempt") { try listener.accept() }
            let other = try ReceivingHost(connection)
            try other.send(.end(EndNotice(reason: .unauthorised, text: "go away")))
            try other.wait(for: "the end") { other.hasEnded }
        }
        #expect(capture.end == nil)
        capture.stop()
    }

    @Test("is told the end once, however often a stranger says it, and writes little of that")
    func flooded() throws {
        let (capture, first) = try pair()
        let (nonce, _) = try answer(first)
        let code = LinkProof.code(of: .host, token: Self.token, hostNonce: Self.nonce, captureNonce: nonce)
        try first.send(.proof(code: code))
        try first.send(.watched)
        try first.wait(for: "a picture") { first.count > 0 }
        first.connection.close()
        let reasons = [EndReason.stopped, .refused, .unauthorised]
        for index in 0..<6 {
            let host = try ReceivingHost(try eventually("another attempt") { try listener.accept() })
            let text = String(repeating: "x", count: 60_000)
            // What the capture doesn't read any more resets the connection.
            for number in index..<index + 60 {
                try? host.send(.end(EndNotice(reason: reasons[number % 3], text: text)))
            }
            try host.wait(for: "the end") { host.hasEnded }
        }
        #expect(capture.end == nil)
        let lines = capture.lines.filter { $0.contains("xxx") }
        // For each of them, that it has ended the link, and that this is lost.
        #expect(lines.count <= 12 && lines.allSatisfy { $0.count < 1000 }, "\(lines.count) lines")
        capture.stop()
    }

    @Test("leaves a host that encrypts its link, with a token or without", arguments: [true, false])
    func encrypted(hasToken: Bool) throws {
        let (capture, host) = try pair(hasToken: hasToken)
        // An alert of TLS, which such a host sends to a capture that doesn't encrypt.
        try host.connection.enqueue(header: [0x15, 3, 3, 0, 2, 1, 0])
        #expect(try refusal(capture) == SocketError.hostEncrypts.description)
    }

    @Test("and one without a token ends where a host asks for it")
    func noToken() throws {
        let (capture, host) = try pair(hasToken: false)
        try host.send(.challenge(nonce: Self.nonce))
        #expect(try refusal(capture) == HostCheck.refusal)
    }
}
