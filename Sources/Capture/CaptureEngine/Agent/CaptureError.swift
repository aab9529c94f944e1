public import CaptureLink
import Glibc
public import LinkTransport
public import RecordingFiles
public import VideoEncoding

/// The reason why capture can't start, or can't go on.
public enum CaptureError: Error, CustomStringConvertible {
    /// The screen can't be captured.
    case screen(any ScreenError)
    /// The pictures can't be encoded.
    case encoder(VideoEncodingError)
    /// The host can't be reached, and trying again won't help.
    case link(SocketError)
    /// A message from or to the host violates the protocol.
    case message(LinkError)
    /// The recording can't be written.
    case recording(RecordingFileError)
    /// A system call failed; `code` is its errno.
    case system(call: String, code: Int32)

    public var description: String {
        switch self {
        case .screen(let error): error.description
        case .encoder(let error):
            if case .unusableSize = error {
                "\(error); --scale makes the pictures smaller than the screen"
            } else {
                error.description
            }
        case .link(let error): error.description
        case .message(let error): error.description
        case .recording(let error): error.description
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code)))"
        }
    }

    /// The kind of error, which decides what a program should do about it.
    public var kind: SocketError.Kind {
        switch self {
        case .link(let error): error.kind
        case .screen(let error): error.kind
        case .system: .system
        case .encoder, .message, .recording: .unavailable
        }
    }

    /// The reason that is reported to the host.
    var endReason: EndReason {
        switch self {
        case .screen(let error): error.endReason
        case .encoder: .encoderFailed
        case .message: .protocolError
        case .link, .recording, .system: .other
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
