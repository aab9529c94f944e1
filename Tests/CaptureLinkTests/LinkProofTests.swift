import CaptureLink
import TestSupport
import Testing

@Suite("The proof of the capture key")
struct LinkProofTests {
    private static let token = Array("a token of some length".utf8)
    private static let hostNonce = Array(UInt8(0)..<32)
    private static let captureNonce = Array(UInt8(32)..<64)

    private let host = CaptureCheck(token: Self.token, nonce: Self.hostNonce)
    private let capture = HostCheck(token: Self.token, nonce: Self.captureNonce)

    /// What a capture answers to a challenge; nil where it leaves.
    private func answer(_ check: inout HostCheck, to challenge: LinkMessage) -> LinkMessage? {
        if case .answer(let answer) = check.take(challenge) { answer } else { nil }
    }

    @Test("two ends with the same token prove it to each other, in the bytes of the vectors")
    func agreement() throws {
        var capture = capture
        #expect(host.challenge == decode(try LinkVectors.bytes("challenge")).messages.first?.body)
        let answer = try #require(answer(&capture, to: host.challenge))
        #expect(answer == decode(try LinkVectors.bytes("answer")).messages.first?.body)
        let hello = LinkMessage.hello(Hello(role: .host, name: "h", processID: 1, makesKeyFrames: true))
        var step = capture.take(hello)
        #expect(step == .other)
        let proof = try #require(host.proof(for: answer))
        #expect(proof == decode(try LinkVectors.bytes("proof")).messages.first?.body)
        step = capture.take(proof)
        #expect(step == .proven)
    }

    @Test("no message has the token in it")
    func secrecy() throws {
        for name in ["challenge", "answer", "proof"] {
            let bytes = try LinkVectors.bytes(name)
            #expect(bytes.firstRange(of: Self.token) == nil)
        }
    }

    @Test("a token that differs in a bit, is longer or shorter proves nothing, in either direction")
    func otherTokens() throws {
        for other in [Self.token + [1], Array(Self.token.dropLast()), [Self.token[0] ^ 1] + Self.token.dropFirst()] {
            var stranger = HostCheck(token: other, nonce: Self.captureNonce)
            #expect(host.proof(for: try #require(answer(&stranger, to: host.challenge))) == nil)

            // The host's proof, where it took no interest in the answer.
            var capture = capture
            _ = answer(&capture, to: host.challenge)
            let code = LinkProof.code(
                of: .host, token: other, hostNonce: Self.hostNonce, captureNonce: Self.captureNonce)
            let step = capture.take(.proof(code: code))
            #expect(step == .failed(.wrongCode))
        }
    }

    @Test("an answer of another connection is of no use, nor is a proof")
    func replayed() throws {
        var first = capture
        let recorded = try #require(answer(&first, to: host.challenge))
        let proof = try #require(host.proof(for: recorded))
        let later = CaptureCheck(token: Self.token, nonce: Self.hostNonce.reversed())
        #expect(later.proof(for: recorded) == nil)

        var second = HostCheck(token: Self.token, nonce: Self.captureNonce.reversed())
        _ = answer(&second, to: host.challenge)
        let step = second.take(proof)
        #expect(step == .failed(.wrongCode))
    }

    @Test("what one end has sent is no proof where it comes back to it")
    func reflected() throws {
        var capture = capture
        guard case .answer(_, let code)? = answer(&capture, to: host.challenge) else {
            Issue.record("no answer")
            return
        }
        var step = capture.take(.proof(code: code))
        #expect(step == .failed(.wrongCode))

        // Someone without the token who has captured answer his own challenge, and hands that on as a host's.
        var asked = HostCheck(token: Self.token, nonce: Self.hostNonce)
        guard case .answer(let nonce, let other)? = answer(&asked, to: .challenge(nonce: Self.captureNonce)) else {
            Issue.record("no answer")
            return
        }
        #expect(host.proof(for: .answer(nonce: nonce, code: other)) == nil)
        var third = self.capture
        _ = answer(&third, to: .challenge(nonce: Self.hostNonce))
        step = third.take(.proof(code: other))
        #expect(step == .failed(.wrongCode))
    }

    @Test("a capture with a token leaves a host that doesn't ask for it: there is no way back to less")
    func downgrade() {
        let hello = LinkMessage.hello(Hello(role: .host, name: "h", processID: 1, makesKeyFrames: true))
        for message in [hello, .watched, .proof(code: Self.hostNonce), .requestKeyFrame] {
            var capture = capture
            let step = capture.take(message)
            #expect(step == .failed(.notChallenged))
        }
        // A second challenge would get a second code.
        var capture = capture
        _ = answer(&capture, to: host.challenge)
        let step = capture.take(host.challenge)
        #expect(step == .failed(.wrongCode))
    }

    @Test("a host that takes nobody says so before any proof")
    func ended() {
        var capture = capture
        let step = capture.take(.end(EndNotice(reason: .refused, text: "full")))
        #expect(step == .other)
    }

    @Test("nothing but a right answer proves anything to a host")
    func otherMessages() {
        let hello = LinkMessage.hello(Hello(role: .capture, name: "c", processID: 1, makesKeyFrames: true))
        for message in [hello, .unit([0, 0, 0, 1, 0x67]), host.challenge, .proof(code: Self.hostNonce)] {
            #expect(host.proof(for: message) == nil)
        }
    }

    @Test("each connection has a nonce of its own")
    func nonces() {
        var generator = SystemRandomNumberGenerator()
        let nonces = Set((0..<100).map { _ in LinkProof.nonce(using: &generator) })
        #expect(nonces.count == 100 && nonces.allSatisfy { $0.count == LinkProof.nonceCount })
    }
}
