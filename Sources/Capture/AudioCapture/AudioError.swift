public import AudioCoding
public import CaptureLink
import Glibc
public import LinkTransport

/// The reason why the capture of sound can't start, or can't go on.
public enum AudioError: Error, CustomStringConvertible {
    /// No PulseAudio server answers; the text is libpulse's reason.
    case noServer(reason: String)
    /// A function of a library has failed, which happens only without memory.
    case library(call: String)
    /// The sound can't be encoded.
    case coding(AudioCodingError)
    /// The host can't be reached, and trying again won't help.
    case link(SocketError)
    /// A message to the host violates the protocol.
    case message(LinkError)
    /// A system call failed; `code` is its errno.
    case system(call: String, code: Int32)

    public var description: String {
        switch self {
        case .noServer(let reason): "no PulseAudio server answers: \(reason)"
        case .library(let call): "\(call) failed"
        case .coding(let error): error.description
        case .link(let error): error.description
        case .message(let error): error.description
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code)))"
        }
    }

    /// The kind of error, which decides what a program should do about it.
    public var kind: SocketError.Kind {
        switch self {
        case .link(let error): error.kind
        case .library, .system: .system
        case .noServer, .coding, .message: .unavailable
        }
    }

    /// The reason that is reported to the host.
    var endReason: EndReason {
        switch self {
        case .coding: .encoderFailed
        case .message: .protocolError
        case .noServer, .library, .link, .system: .other
        }
    }
}
