import ByteCoding

/// How the two ends of a TCP link prove to each other that they have the same token, which itself is never sent.
///
///     host                                                    capture
///      |--- challenge: host nonce ------------------------------>|
///      |--- hello ---------------------------------------------->|
///      |<-- answer: capture nonce, code of "capture" ------------|
///      |--- proof: code of "host" ------------------------------>|
///      |<------------------------------ hello, size, pictures ---|
///
/// A code is HMAC-SHA256 under the token, of a label that names the role, the host's nonce and capture's nonce. Each end draws a
/// nonce for each connection, so a code is of no use in another one; the label keeps a code from being sent back to its maker.
/// Capture proves first: whoever only connects to a host gets no code to try tokens against.
public enum LinkProof {
    /// How many bytes a nonce has.
    public static let nonceCount = 32
    /// How many bytes a code has.
    public static let codeCount = SHA256.digestCount

    /// Who proves.
    public enum Role: Sendable {
        case host
        case capture

        /// What the code's message begins with.
        var label: [UInt8] {
            switch self {
            case .host: Array("ScreenRelay link, host".utf8)
            case .capture: Array("ScreenRelay link, capture".utf8)
            }
        }
    }

    /// The code by which `role` proves in this connection that it has `token`.
    public static func code(of role: Role, token: [UInt8], hostNonce: [UInt8], captureNonce: [UInt8]) -> [UInt8] {
        HMACSHA256.code(of: role.label + hostNonce + captureNonce, key: token)
    }

    /// A nonce that nobody can foresee, where `generator` is the system's.
    public static func nonce(using generator: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<nonceCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
    }
}

/// A host's part of the proof, for one connection.
public struct CaptureCheck: Sendable {
    private let token: [UInt8]
    private let nonce: [UInt8]

    /// A check of one connection; `nonce` is drawn for it by ``LinkProof/nonce(using:)``.
    public init(token: [UInt8], nonce: [UInt8]) {
        self.token = token
        self.nonce = nonce
    }

    /// What capture is sent, in front of the hello.
    public var challenge: LinkMessage { .challenge(nonce: nonce) }

    /// What is sent to a capture whose first message proves that it has the token; nil where that doesn't.
    public func proof(for message: LinkMessage) -> LinkMessage? {
        guard case .answer(let theirs, let code) = message else { return nil }
        func right(_ role: LinkProof.Role) -> [UInt8] {
            LinkProof.code(of: role, token: token, hostNonce: nonce, captureNonce: theirs)
        }
        return HMACSHA256.areEqual(code, right(.capture)) ? .proof(code: right(.host)) : nil
    }
}

/// Capture's part of the proof, for one connection: nothing but the answer is sent before the host has proved that it has the token.
public struct HostCheck: Sendable {
    /// What to do about a message of the host.
    public enum Step: Hashable, Sendable {
        /// Send this.
        case answer(LinkMessage)
        /// The host has the token. This check is over.
        case proven
        /// The message is no part of the proof.
        case other
        /// Leave this host.
        case failed(Failure)
    }

    /// Why a host is left.
    public enum Failure: Hashable, Sendable {
        /// It has not begun with a challenge.
        case notChallenged
        /// Its code is wrong.
        case wrongCode

        /// For people.
        public var words: String {
            switch self {
            case .notChallenged:
                "the host there doesn't ask for the --link-token: it was started without one, or is of another version"
            case .wrongCode: "the host there doesn't have the same --link-token file"
            }
        }
    }

    /// What a capture says that has no token where a host asks for one, and what that host says to a capture that can't prove it.
    public static let refusal =
        "this host takes only captures that were given its --link-token file, and that are of its version"

    private let token: [UInt8]
    private let nonce: [UInt8]
    /// The host's, once it has come.
    private var hostNonce: [UInt8]?

    /// A check of one connection; `nonce` is drawn for it by ``LinkProof/nonce(using:)``.
    public init(token: [UInt8], nonce: [UInt8]) {
        self.token = token
        self.nonce = nonce
    }

    /// Takes the host's next message.
    public mutating func take(_ message: LinkMessage) -> Step {
        guard let hostNonce else {
            switch message {
            case .challenge(let theirs):
                hostNonce = theirs
                return .answer(.answer(nonce: nonce, code: code(of: .capture, theirs)))
            // It says why it takes nobody now.
            case .end: return .other
            default: return .failed(.notChallenged)
            }
        }
        switch message {
        case .proof(let code):
            return HMACSHA256.areEqual(code, self.code(of: .host, hostNonce)) ? .proven : .failed(.wrongCode)
        case .challenge: return .failed(.wrongCode)
        default: return .other
        }
    }

    private func code(of role: LinkProof.Role, _ hostNonce: [UInt8]) -> [UInt8] {
        LinkProof.code(of: role, token: token, hostNonce: hostNonce, captureNonce: nonce)
    }
}
