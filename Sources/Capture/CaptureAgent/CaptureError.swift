public import CaptureLink
import Glibc
public import LinkTransport
public import RecordingFiles
public import X11Capture
public import X264Encoding

/// Why capture can't start, or can't go on.
public enum CaptureError: Error, CustomStringConvertible {
    /// The screen can't be captured.
    case screen(X11CaptureError)
    /// The pictures can't be encoded.
    case encoder(X264Error)
    /// The host can't be reached, and trying again won't help.
    case link(LinkTransportError)
    /// What came from the host, or should go there, is against the protocol.
    case message(LinkError)
    /// What is to be recorded can't be written.
    case recording(RecordingFileError)
    /// A system call failed; `code` is its errno.
    case system(call: String, code: Int32)

    public var description: String {
        switch self {
        case .screen(let error): error.description
        case .encoder(.unusableSize(let size)):
            "\(X264Error.unusableSize(size)); --scale makes the pictures smaller than the screen"
        case .encoder(let error): error.description
        case .link(let error): error.description
        case .message(let error): error.description
        case .recording(let error): error.description
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code)))"
        }
    }

    /// What a program should do about it.
    public var kind: LinkTransportError.Kind {
        switch self {
        case .link(let error): error.kind
        case .screen(.noDisplayNamed), .screen(.invalidDisplayName): .usage
        case .screen(.system), .system: .system
        case .screen, .encoder, .message, .recording: .unavailable
        }
    }

    /// Whether the window that was to be captured isn't there, or no longer: another try could only find another window.
    public var isWindowGone: Bool {
        switch self {
        case .screen(.windowClosed), .screen(.noSuchWindow): true
        default: false
        }
    }

    /// What the host is told.
    var endReason: EndReason {
        switch self {
        case .screen(.displayGone): .displayLost
        case .screen(.windowClosed): .windowClosed
        case .encoder: .encoderFailed
        case .message: .protocolError
        case .screen, .link, .recording, .system: .other
        }
    }
}

/// Why capture has ended in good order.
public enum CaptureEnd: Sendable, Equatable {
    /// It was told to.
    case stopped
    /// The host has ended the connection, and there is no way to it but the descriptor that was handed down.
    case hostGone
}

/// How much a line of the log matters.
public enum CaptureLogLevel: Sendable {
    case warning, info, debug
}
