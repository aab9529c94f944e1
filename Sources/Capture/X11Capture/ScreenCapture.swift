import CXCB
import Glibc
public import MediaTypes

/// A screen of an X server: tells what changes on it, and hands out its pixels, with the pointer drawn in.
///
/// Not thread-safe. Its thread polls `fileDescriptor` for reading, and calls `readEvents` before each poll as well, because
/// waiting for a reply may have taken events off the connection.
public final class ScreenCapture {
    /// The screen's size in pixels; changes only inside `readEvents`, which then says so.
    public private(set) var size: PictureSize
    /// How a pixel stands in memory.
    public var pixelFormat: ScreenPixelFormat { connection.pixels.format }
    /// How pixels are taken.
    public var grabMethod: GrabMethod { grabber.method }
    /// Whether the server says what changes; without that every picture is compared with the one before.
    public var reportsDamage: Bool { damage != nil }
    /// Whether the pointer is drawn into the pictures.
    public var drawsPointer: Bool { pointer != nil }
    /// Whether the server refused to hand out pixels, as while the screen changes its size: the next `takeChanges` gives the
    /// whole screen.
    public private(set) var isIncomplete = false

    private let connection: X11Connection
    private let methods: [GrabMethod]
    private let onWarning: (String) -> Void
    private var grabber: ScreenGrabber
    private let damage: DamageTracker?
    private var comparison: ScreenComparison?
    private let pointer: Pointer?
    private let resizeEvent: UInt8?
    // The server told of a new arrangement of the screen, perhaps of the same size again.
    private var isRearranged = false
    private var refusals = 0
    private var lateErrors = 0

    /// A refusal that isn't followed by news of the screen's size so many times is no race but an error.
    private static let mostRefusals = 3

    /// Connects to `display`, or to what DISPLAY names.
    ///
    /// `methods` are tried in turn. `usesDamage` and `drawsPointer` turn off what the server may well have. `onWarning` gets
    /// a line for each of the first errors that the server reports of requests without an answer.
    public init(
        display: String? = nil, methods: [GrabMethod] = GrabMethod.allCases, usesDamage: Bool = true,
        drawsPointer: Bool = true, onWarning: @escaping (String) -> Void = { _ in }
    ) throws(X11CaptureError) {
        connection = try X11Connection(display: display)
        self.methods = methods
        self.onWarning = onWarning
        size = try connection.rootSize()
        grabber = try ScreenGrabber(connection, size: size, methods: methods)
        // Before the damage tracker: it says to the server which version of XFixes we know.
        let pointer = try Pointer(connection)
        damage = usesDamage ? try DamageTracker(connection) : nil
        self.pointer = drawsPointer ? pointer : nil
        if damage == nil { comparison = ScreenComparison(size: size, pixels: connection.pixels) }
        resizeEvent = connection.firstEvent(of: shim_xcb_randr_id()).map { $0 + UInt8(XCB_RANDR_SCREEN_CHANGE_NOTIFY) }
        if resizeEvent != nil {
            xcb_randr_select_input(
                connection.handle, connection.root, UInt16(XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE.rawValue))
        }
        xcb_flush(connection.handle)
    }

    /// Whether `takeChanges` may find something drawn; always where the server doesn't say.
    public var mayHaveChanged: Bool { isIncomplete || damage?.isDamaged ?? true }

    /// Readable when the server has sent something.
    public var fileDescriptor: Int32 { connection.fileDescriptor }

    /// Takes what the server has sent; true where the screen has another size since the last call.
    public func readEvents() throws(X11CaptureError) -> Bool {
        while let event = xcb_poll_for_event(connection.handle) { take(event) }
        try connection.check()
        guard isRearranged || isIncomplete else { return false }
        if isRearranged {
            isRearranged = false
            isIncomplete = true
            refusals = 0
        }
        let now = try connection.rootSize()
        if now == size { return false }
        size = now
        refusals = 0
        grabber = try ScreenGrabber(connection, size: now, methods: methods)
        if damage == nil { comparison = ScreenComparison(size: now, pixels: connection.pixels) }
        return true
    }

    /// What has to be taken again since the last call: what was drawn, where the pointer was, and where it is now; nothing
    /// where the server refused to tell.
    ///
    /// On a still screen this costs one round trip.
    public func takeChanges() throws(X11CaptureError) -> DamagedArea {
        var changes = try pointer?.update() ?? []
        if let damage {
            // The round trip above may have brought the event.
            while let event = xcb_poll_for_queued_event(connection.handle) { take(event) }
            if damage.isDamaged { changes += try damage.takeRectangles() }
        } else if let comparison {
            guard try completes({ () throws(X11CaptureError) in changes += try comparison.changes(grabber) })
            else { return DamagedArea([], in: size) }
        }
        if isIncomplete {
            isIncomplete = false
            changes = [whole]
        }
        return DamagedArea(changes, in: size)
    }

    /// The whole screen; what was drawn up to now doesn't count as a change any longer.
    public func takeEverything() throws(X11CaptureError) -> DamagedArea {
        _ = try takeChanges()
        isIncomplete = false
        return DamagedArea([whole], in: size)
    }

    /// Hands out the pixels of `area`, with the pointer where `takeChanges` saw it, in pieces of whole rows that begin at
    /// even coordinates.
    ///
    /// Gives false where the server refused, as it does while the screen changes its size: some pieces may be missing, and
    /// `isIncomplete` is set. A server that goes on refusing is an error.
    public func grab(_ area: DamagedArea, _ body: (GrabbedPixels) -> Void) throws(X11CaptureError) -> Bool {
        try completes { () throws(X11CaptureError) in
            try grabber.grab(area.rectangles) { pixels in
                pointer?.draw(into: pixels, format: pixelFormat)
                body(pixels)
            }
            if !area.isEmpty { refusals = 0 }
        }
    }

    private var whole: PixelRectangle { PixelRectangle(x: 0, y: 0, width: size.width, height: size.height) }

    /// False where the server refused what `body` asked for; throws where that keeps on.
    ///
    /// The screen may have shrunk for a moment. News of that are on the way then: they count the refusals from 0 again.
    private func completes(_ body: () throws(X11CaptureError) -> Void) throws(X11CaptureError) -> Bool {
        do {
            try body()
            return true
        } catch .requestRefused(let request, let code) {
            isIncomplete = true
            refusals += 1
            if refusals >= Self.mostRefusals { throw .requestRefused(request: request, code: code) }
            return false
        }
    }

    private func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
        defer { free(event) }
        let type = event.pointee.response_type & 0x7F
        if type == 0 { return warn(of: event) }
        if damage?.take(event: type) == true || pointer?.take(event: type) == true { return }
        if type == resizeEvent { isRearranged = true }
    }

    /// An error that came of a request without an answer (X protocol, "Errors": the type is 0).
    private func warn(of event: UnsafeMutablePointer<xcb_generic_event_t>) {
        lateErrors += 1
        // It may come with every picture.
        if lateErrors > 10 { return }
        let error = UnsafeRawPointer(event).loadUnaligned(as: xcb_generic_error_t.self)
        onWarning(
            "the X server reports error \(error.error_code) of request \(error.major_code).\(error.minor_code)")
    }
}
