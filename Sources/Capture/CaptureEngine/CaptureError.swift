public import CaptureLink
import Glibc
public import LinkTransport
public import RecordingFiles
public import X11Capture
public import X264Encoding

/// The reason why capture can't start, or can't go on.
public enum CaptureError: Error, CustomStringConvertible {
    /// The screen can't be captured.
    case screen(X11CaptureError)
    /// The pictures can't be encoded.
    case encoder(X264Error)
    /// The host can't be reached, and trying again won't help.
    case link(LinkTransportError)
    /// A message from or to the host violates the protocol.
    case message(LinkError)
    /// The recording can't be written.
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

    /// The kind of error, which decides what a program should do about it.
    public var kind: LinkTransportError.Kind {
        switch self {
        case .link(let error): error.kind
        case .screen(.noDisplayNamed), .screen(.invalidDisplayName): .usage
        case .screen(.system), .system: .system
        case .screen, .encoder, .message, .recording: .unavailable
        }
    }

    /// Whether the window to capture doesn't exist, or no longer does; another attempt could only find a different
    /// window.
    public var isWindowGone: Bool {
        switch self {
        case .screen(.windowClosed), .screen(.noSuchWindow): true
        default: false
        }
    }

    /// The reason that the host is told.
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

/// The reason for an orderly end of capture.
public enum CaptureEnd: Sendable, Equatable {
    /// Capture was told to stop.
    case stopped
    /// The host has ended the connection, which was an inherited descriptor, so there is no way to reach the host
    /// again.
    case hostGone
}

/// The importance of a log line.
public enum CaptureLogLevel: Sendable {
    case warning, info, debug
}
