import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Testing

/// The capture's end of a link.
final class TestCapture {
    let connection: SocketConnection
    private let encoder: MessageEncoder
    private var decoder = MessageDecoder()
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private(set) var received: [LinkMessage] = []
    /// The stream of each of them.
    private(set) var streams: [UInt8] = []
    private(set) var isClosed = false

    init(_ connection: SocketConnection, form: HeaderFormat = .extended, stream: UInt8 = 0) {
        self.connection = connection
        encoder = MessageEncoder(form: form, epoch: form == .extended ? 99 : 0, stream: stream)
    }

    convenience init(path: String, form: HeaderFormat = .extended, stream: UInt8 = 0) throws {
        self.init(try SocketConnection.connect(to: .unix(path: path)), form: form, stream: stream)
    }

    func greet(makesKeyFrames: Bool = true, changesChroma: Bool = false) throws {
        try send(
            .hello(
                Hello(
                    role: .capture, name: "test", processID: 1, makesKeyFrames: makesKeyFrames,
                    changesChroma: changesChroma)))
    }

    /// Proves to the host that it has `token`, and waits until the host has proved the same.
    func prove(_ token: [UInt8]) throws {
        let challenge = try answer(with: token)
        try wait(for: "the host's proof") { $0.contains { if case .proof = $0 { true } else { false } } }
        for case .proof(let code) in received {
            let right = LinkProof.code(of: .host, token: token, hostNonce: challenge, captureNonce: Self.nonce)
            #expect(code == right)
        }
    }

    /// Answers the host's challenge as a capture that has `token`, and returns the challenge's nonce.
    @discardableResult
    func answer(with token: [UInt8], as role: LinkProof.Role = .capture) throws -> [UInt8] {
        try wait(for: "the challenge") { !$0.isEmpty }
        guard case .challenge(let nonce)? = received.first else { throw NoChallenge() }
        let code = LinkProof.code(of: role, token: token, hostNonce: nonce, captureNonce: Self.nonce)
        try send(.answer(nonce: Self.nonce, code: code))
        return nonce
    }

    private struct NoChallenge: Error {}
    private static let nonce = [UInt8](repeating: 7, count: LinkProof.nonceCount)

    func send(_ message: LinkMessage) throws {
        try connection.enqueue(header: encoder.encode(message))
    }

    /// Returns the bytes of all messages of an access unit.
    func bytes(of unit: CodedFrame) throws -> [UInt8] {
        try encoder.headers(for: unit).flatMap { $0.header + unit.bytes[$0.payload] }
    }

    func send(_ unit: CodedFrame) throws {
        try send(bytes: bytes(of: unit))
    }

    func send(bytes: [UInt8]) throws {
        try connection.enqueue(header: bytes)
        try eventually("the host to read", holds: { try connection.flush() })
    }

    /// Reads until `condition` holds.
    func wait(for what: String, _ condition: ([LinkMessage]) -> Bool) throws {
        try eventually(what) {
            try read()
            return condition(received) ? () : nil
        }
    }

    /// Reads until the host has closed.
    func waitForEnd() throws {
        try eventually("the end of the link") {
            try read()
            return isClosed ? () : nil
        }
    }

    /// The notice with which the host has ended the link.
    var endNotice: EndNotice? {
        for case .end(let notice) in received { return notice }
        return nil
    }

    /// Takes what has come.
    func read() throws {
        while !isClosed {
            switch try connection.receive(into: &buffer) {
            case .bytes(let count): decoder.push(buffer[..<count])
            case .wouldBlock: return
            case .closed: isClosed = true
            }
            while let message = try decoder.next() {
                received.append(message.body)
                streams.append(message.header.stream)
            }
        }
    }
}
