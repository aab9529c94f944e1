import ByteCoding

/// How the two ends of a TCP link prove to each other that they have the same token, without ever sending it.
///
///     host                                                    capture
///      |--- challenge: host nonce ------------------------------>|
///      |--- hello ---------------------------------------------->|
///      |<-- answer: capture nonce, code of "capture" ------------|
///      |--- proof: code of "host" ------------------------------>|
///      |<------------------------------ hello, size, pictures ---|
///
/// A code is the HMAC-SHA256, keyed with the token, of a label that names the role, the host's nonce and the capture's
/// nonce. Each end draws a new nonce for each connection, so a code is useless in another connection; the label keeps a
/// code from being sent back to its maker. The capture proves first, so that a peer that merely connects to a host gets
/// no code to try out tokens against.
public enum LinkProof {
    /// How many bytes a nonce has.
    public static let nonceCount = 32
    /// How many bytes a code has.
    public static let codeCount = SHA256.digestCount

    /// The end that proves that it has the token.
    public enum Role: Sendable {
        case host
        case capture

        /// The first part of the message that the code is computed over.
        var label: [UInt8] {
            switch self {
            case .host: Array("ScreenRelay link, host".utf8)
            case .capture: Array("ScreenRelay link, capture".utf8)
            }
        }
    }

    /// Returns the code with which `role` proves in this connection that it has `token`.
    public static func code(of role: Role, token: [UInt8], hostNonce: [UInt8], captureNonce: [UInt8]) -> [UInt8] {
        HMACSHA256.code(of: role.label + hostNonce + captureNonce, key: token)
    }

    /// Returns a new nonce; nobody can predict it if `generator` is the system's.
    public static func nonce(using generator: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<nonceCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
    }
}

/// The host's part of the proof, for one connection.
public struct CaptureCheck: Sendable {
    private let token: [UInt8]
    private let nonce: [UInt8]

    /// Creates a check for one connection; `nonce` is drawn for it with ``LinkProof/nonce(using:)``.
    public init(token: [UInt8], nonce: [UInt8]) {
        self.token = token
        self.nonce = nonce
    }

    /// The message to send to the capture, before the hello.
    public var challenge: LinkMessage { .challenge(nonce: nonce) }

    /// Returns the message to send to a capture whose first message proves that it has the token; nil if that message
    /// doesn't.
    public func proof(for message: LinkMessage) -> LinkMessage? {
        guard case .answer(let theirs, let code) = message else { return nil }
        func right(_ role: LinkProof.Role) -> [UInt8] {
            LinkProof.code(of: role, token: token, hostNonce: nonce, captureNonce: theirs)
        }
        return HMACSHA256.areEqual(code, right(.capture)) ? .proof(code: right(.host)) : nil
    }
}

/// The capture's part of the proof, for one connection. Until the host has proved that it has the token, the capture
/// sends only the answer.
public struct HostCheck: Sendable {
    /// What to do after a message of the host.
    public enum Step: Hashable, Sendable {
        /// Send this.
        case answer(LinkMessage)
        /// The host has the token. This check is over.
        case proven
        /// The message is not part of the proof.
        case other
        /// Disconnect from this host.
        case failed(Failure)
    }

    /// Why the capture disconnects from a host.
    public enum Failure: Hashable, Sendable {
        /// It did not begin with a challenge.
        case notChallenged
        /// Its code is wrong.
        case wrongCode

        /// The failure in words, for people.
        public var text: String {
            switch self {
            case .notChallenged:
                "the host there doesn't ask for the --capture-key: it was started without one, or is of another version"
            case .wrongCode: "the host there doesn't have the same --capture-key file"
            }
        }
    }

    /// What a capture without a token reports if a host asks for one, and what that host tells a capture that can't
    /// prove that it has it.
    public static let refusal =
        "this host takes only captures that were given its --capture-key file, and that are of its version"

    private let token: [UInt8]
    private let nonce: [UInt8]
    /// The host's nonce, once it has arrived.
    private var hostNonce: [UInt8]?

    /// Creates a check for one connection; `nonce` is drawn for it with ``LinkProof/nonce(using:)``.
    public init(token: [UInt8], nonce: [UInt8]) {
        self.token = token
        self.nonce = nonce
    }

    /// Takes the host's next message, and returns what to do.
    public mutating func take(_ message: LinkMessage) -> Step {
        guard let hostNonce else {
            switch message {
            case .challenge(let theirs):
                hostNonce = theirs
                return .answer(.answer(nonce: nonce, code: code(of: .capture, theirs)))
            // The host says why it accepts nobody now.
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
