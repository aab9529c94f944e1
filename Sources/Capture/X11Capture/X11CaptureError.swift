import Glibc

/// Why a screen can't be captured, or can't be captured any longer.
public enum X11CaptureError: Error, Equatable, Sendable, CustomStringConvertible {
    /// No display was named, and DISPLAY isn't set.
    case noDisplayNamed
    /// The display's name can't be read.
    case invalidDisplayName(String)
    /// Nobody answers at this display, or it doesn't let us in.
    case cannotOpen(display: String)
    /// The display has no such screen.
    case noSuchScreen(display: String)
    /// Pixels are stored in a way that we don't read.
    case unsupportedFormat(display: String, depth: Int, bitsPerPixel: Int, reason: String)
    /// None of the allowed ways to take a picture works on this display.
    case noGrabMethod(display: String, tried: [GrabMethod])
    /// The connection to the display has ended.
    case displayGone(display: String)
    /// The X server answered a request with an error; `code` is the protocol's.
    case requestRefused(request: String, code: Int)
    /// A system call failed; `code` is its errno.
    case system(call: String, code: Int32)

    public var description: String {
        switch self {
        case .noDisplayNamed: "no display named and DISPLAY is not set; name one, as in :0"
        case .invalidDisplayName(let display): "'\(display)' is not a display's name; write it as in :0"
        case .cannotOpen(let display):
            "display '\(display)' can't be opened: no X server is there, or it doesn't let us in (XAUTHORITY)"
        case .noSuchScreen(let display): "display '\(display)' has no such screen; leave the screen's number out"
        case .unsupportedFormat(let display, let depth, let bitsPerPixel, let reason):
            "display '\(display)' has depth \(depth) with \(bitsPerPixel) bits a pixel (\(reason)); "
                + "what works is depth 24 with 32 bits a pixel, or depth 16"
        case .noGrabMethod(let display, let tried):
            "display '\(display)' supports none of \(tried.map(\.rawValue).joined(separator: ", "))"
        case .displayGone(let display): "display '\(display)' has ended the connection"
        case .requestRefused(let request, let code): "the X server refused \(request) with error \(code)"
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code)))"
        }
    }
}
