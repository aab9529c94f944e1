import CXCB
import Glibc
public import MediaTypes

/// A screen of an X server: tells what changes on it, and hands out its pixels, with the pointer drawn in.
///
/// Not thread-safe. Its thread polls `fileDescriptor` for reading, and calls `readEvents` before each poll as well, because
/// waiting for a reply may have taken events off the connection.
public final class ScreenCapture {
    /// The screen's size in pixels; changes only inside `readEvents` and `grab`.
    public private(set) var size: PictureSize
    /// How a pixel stands in memory.
    public var pixelFormat: ScreenPixelFormat { connection.pixels.format }
    /// How pixels are taken.
    public var grabMethod: GrabMethod { grabber.method }
    /// Whether the server says what changes; without that every picture is compared with the one before.
    public var reportsDamage: Bool { damage != nil }
    /// Whether the pointer is drawn into the pictures.
    public var drawsPointer: Bool { pointer != nil }

    private let connection: X11Connection
    private let methods: [GrabMethod]
    private var grabber: ScreenGrabber
    private let damage: DamageTracker?
    private var comparison: ScreenComparison?
    private let pointer: Pointer?
    private let resizeEvent: UInt8?
    private var wasResized = false

    /// Connects to `display`, or to what DISPLAY names.
    ///
    /// `methods` are tried in turn. `usesDamage` and `drawsPointer` turn off what the server may well have.
    public init(
        display: String? = nil, methods: [GrabMethod] = GrabMethod.allCases, usesDamage: Bool = true,
        drawsPointer: Bool = true
    ) throws(X11CaptureError) {
        connection = try X11Connection(display: display)
        self.methods = methods
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
    public var mayHaveChanged: Bool { damage?.isDamaged ?? true }

    /// Readable when the server has sent something.
    public var fileDescriptor: Int32 { connection.fileDescriptor }

    /// Takes what the server has sent; true where the screen has another size since the last call.
    public func readEvents() throws(X11CaptureError) -> Bool {
        while let event = xcb_poll_for_event(connection.handle) {
            let type = event.pointee.response_type & 0x7F
            free(event)
            if damage?.take(event: type) == true || pointer?.take(event: type) == true { continue }
            if type == resizeEvent { try updateSize() }
        }
        try connection.check()
        defer { wasResized = false }
        return wasResized
    }

    /// What has to be taken again since the last call: what was drawn, where the pointer was, and where it is now.
    ///
    /// On a still screen this costs one round trip.
    public func takeChanges() throws(X11CaptureError) -> DamagedArea {
        var changes = try pointer?.update() ?? []
        if let damage {
            // The round trip above may have brought the event.
            while let event = xcb_poll_for_queued_event(connection.handle) {
                let type = event.pointee.response_type & 0x7F
                free(event)
                if !damage.take(event: type), pointer?.take(event: type) != true, type == resizeEvent {
                    try updateSize()
                }
            }
            if damage.isDamaged { changes += try damage.takeRectangles() }
        } else if let comparison {
            changes += try comparison.changes(grabber)
        }
        return DamagedArea(changes, in: size)
    }

    /// The whole screen; what was drawn up to now doesn't count as a change any longer.
    public func takeEverything() throws(X11CaptureError) -> DamagedArea {
        _ = try takeChanges()
        return DamagedArea([PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)], in: size)
    }

    /// Hands out the pixels of `area`, with the pointer where `takeChanges` saw it, in pieces of whole rows that begin at
    /// even coordinates.
    ///
    /// Gives false where the screen has become another size meanwhile; `readEvents` then says so.
    public func grab(_ area: DamagedArea, _ body: (GrabbedPixels) -> Void) throws(X11CaptureError) -> Bool {
        do {
            try grabber.grab(area.rectangles) { pixels in
                pointer?.draw(into: pixels, format: pixelFormat)
                body(pixels)
            }
            return true
        } catch .requestRefused(let request, let code) {
            try updateSize()
            if wasResized { return false }
            throw .requestRefused(request: request, code: code)
        }
    }

    private func updateSize() throws(X11CaptureError) {
        let now = try connection.rootSize()
        if now == size { return }
        size = now
        wasResized = true
        grabber = try ScreenGrabber(connection, size: now, methods: methods)
        if damage == nil { comparison = ScreenComparison(size: now, pixels: connection.pixels) }
    }
}
