public import CaptureEngine
public import CaptureLink
import Glibc
public import LinkTransport
public import MediaTypes

/// The reason why a screen can't be captured, or can't be captured any longer.
public enum X11CaptureError: ScreenError, Equatable {
    /// Another program keeps the pointer to itself, as a menu does that is open.
    case pointerGrabbed
    /// No display was named, and DISPLAY isn't set.
    case noDisplayNamed
    /// The display's name is malformed.
    case invalidDisplayName(String)
    /// No server answers at this display, or it doesn't let us in.
    case cannotOpen(display: String)
    /// Something accepts connections at this display, and no X server has answered in this time.
    case noAnswer(display: String, after: Interval)
    /// The display has no such screen.
    case noSuchScreen(display: String)
    /// The display stores pixels in a format that isn't supported.
    case unsupportedFormat(display: String, depth: Int, bitsPerPixel: Int, reason: String)
    /// None of the allowed methods of taking pictures works on this display.
    case noGrabMethod(display: String, tried: [GrabMethod])
    /// The connection to the display has ended.
    case displayGone(display: String)
    /// The X server answered a request with an error; `code` is the protocol's error code.
    case requestRefused(request: String, code: Int)
    /// No part of the region lies on the screen.
    case regionOutside(PixelRectangle, screen: PictureSize)
    /// No monitor has this name; `known` are the names that exist.
    case noSuchMonitor(String, known: [String])
    /// The monitor is switched off.
    case monitorGone(String)
    /// No window has this identifier, title or class.
    case noSuchWindow(String)
    /// Several windows have this title or class; these are some of them.
    case severalWindows(String, matches: [String])
    /// The display lacks what hiding windows needs.
    case cannotHide(display: String)
    /// The window has no pixels of its own (InputOnly).
    case windowWithoutPixels(String)
    /// The captured window has been destroyed.
    case windowClosed(String)
    /// A system call failed; `code` is its errno.
    case system(call: String, code: Int32)

    public var description: String {
        switch self {
        case .pointerGrabbed: "another program keeps the pointer to itself; close the menu that is open, and try again"
        case .noDisplayNamed: "no display named and DISPLAY is not set; name one, for example :0"
        case .invalidDisplayName(let display): "'\(display)' is not a display's name; write it like :0"
        case .cannotOpen(let display):
            "display '\(display)' can't be opened: no X server is there, or it doesn't let us in (XAUTHORITY)"
        case .noAnswer(let display, let limit):
            "display '\(display)' doesn't answer within \(limit.milliseconds / 1000) s: its X server hangs"
        case .noSuchScreen(let display): "display '\(display)' has no such screen; leave the screen's number out"
        case .unsupportedFormat(let display, let depth, let bitsPerPixel, let reason):
            "display '\(display)' has depth \(depth) with \(bitsPerPixel) bits a pixel (\(reason)); "
                + "what works is depth 24 with 32 bits a pixel, or depth 16"
        case .noGrabMethod(let display, let tried):
            "display '\(display)' supports none of \(tried.map(\.rawValue).joined(separator: ", "))"
        case .displayGone(let display): "display '\(display)' has ended the connection"
        case .requestRefused(let request, let code): "the X server refused \(request) with error \(code)"
        case .regionOutside(let region, let screen):
            "region \(region.named) lies outside the screen of \(screen)"
        case .noSuchMonitor(let name, let known):
            "there is no monitor '\(PrintableText.harmless(name))'; "
                + (known.isEmpty ? "the display has none" : "there is \(known.joined(separator: ", "))")
        case .monitorGone(let name): "monitor '\(PrintableText.harmless(name))' is switched off"
        case .noSuchWindow(let text): "there is no window '\(text)'; --list shows those there are"
        case .severalWindows(let text, let matches):
            "several windows are named '\(text)'; give the identifier of one: \(matches.joined(separator: ", "))"
        case .cannotHide(let display):
            "display '\(display)' can't hide windows: that needs its extensions Composite 0.2, DAMAGE, RENDER, SHAPE "
                + "and XFIXES"
        case .windowWithoutPixels(let window): "window \(window) only takes input, and shows nothing"
        case .windowClosed(let window): "window \(window) has been closed"
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code)))"
        }
    }
}

extension X11CaptureError {
    public var kind: SocketError.Kind {
        switch self {
        case .noDisplayNamed, .invalidDisplayName, .severalWindows: .usage
        // Another attempt could only find a different window.
        case .noSuchWindow, .windowClosed: .missing
        case .system: .system
        default: .unavailable
        }
    }

    public var endReason: EndReason {
        switch self {
        case .displayGone: .displayLost
        case .windowClosed: .windowClosed
        default: .other
        }
    }
}

extension PixelRectangle {
    /// The region as a user writes it: 640x480+10+20.
    var named: String { "\(width)x\(height)\(x < 0 ? "" : "+")\(x)\(y < 0 ? "" : "+")\(y)" }
}
