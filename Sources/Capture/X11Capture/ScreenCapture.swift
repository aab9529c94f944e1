import CXCB
import Clocks
import Glibc
public import MediaTypes

/// A screen of an X server, or a part of it: reports what changes there, and hands out its pixels.
///
/// All rectangles are in pixels of the captured area. Not thread-safe. The owning thread polls `fileDescriptor` and
/// `pointerDescriptor` for reading. Before each poll it calls `takeQueuedEvents`, because waiting for a reply may have
/// read events from the connection; after each poll, and at `nextCheck`, it calls `readEvents`. It calls
/// `lookAtPointer` at `nextPointerLook` and `takeChanges` at `pollDue`, even if nothing came.
public final class ScreenCapture {
    /// The captured area's size in pixels; changes only in `readEvents`, which then returns true.
    public private(set) var size: PictureSize
    /// How a pixel is stored in memory.
    public var pixelFormat: ScreenPixelFormat { source.layout.format }
    /// The method by which pixels are taken.
    public var grabMethod: GrabMethod { grabber.method }
    /// Whether the server reports what changes; if not, every picture is compared with the one before.
    public var reportsDamage: Bool { damage != nil }
    /// Whether there is nothing to take pictures of for now, because the window isn't mapped or the monitor is off.
    public var isWaiting: Bool { source.place == nil }
    /// Whether the next `takeChanges` returns the whole area: after the server refused pixels (it does so while the
    /// screen changes its size), after the screen was rearranged, and after the area moved or came back.
    public private(set) var isIncomplete = false
    /// The time at which `readEvents` has something to do even if the server sends nothing.
    public var nextCheck: MonotonicTime { source.nextCheck }
    /// Whether the screen is locked or blanked; false if that isn't watched. Changes only in `readEvents`.
    public var isLocked: Bool { lock?.isLocked ?? false }
    /// Whether the pointer is drawn into the pictures; false if the server doesn't report its shape.
    ///
    /// A change of this value counts as a change of the area where the pointer was or is drawn.
    public var drawsPointer: Bool {
        get { wantsPointer && pointer.hasShape }
        set { wantsPointer = newValue }
    }

    let connection: X11Connection
    let source: any CaptureSource
    let pointer: Pointer
    // What `lookAtPointer` and `takePointerShape` last returned.
    var toldState: PointerState?
    var toldShape: Int?
    private let grabber: ScreenGrabber
    private let onWarning: (String) -> Void
    private let damage: DamageTracker?
    private var comparison: TileComparison?
    private let hidden: HiddenWindows?
    private let lock: ScreenLock?
    private let randrEvent: UInt8?
    private var wantsPointer: Bool
    private var drawn = DrawnPointer()
    // Kept so that a picture needs no allocation.
    private var changes: [PixelRectangle] = []
    private var area = DamagedArea()
    // Whether the server reported a new layout of the screen, perhaps of the same size again.
    private var isRearranged = false
    private var isRefused = false
    private var refusals = 0
    private var lateErrors = 0

    /// After this many refusals in a row, without an event that changes the area, the capture fails. Fewer may only
    /// mean that such an event is still on its way.
    private static let mostRefusals = 3

    /// Connects to `display`, or to the display that DISPLAY names, and finds `target` there.
    ///
    /// - Parameters:
    ///   - hidden: Windows that are black in every picture, as far as they lie in the area; ignored if `target` is a
    ///     window that is captured with Composite: other windows never show in its pictures.
    ///   - methods: The methods to try, in this order.
    ///   - usesDamage: Whether to use the Damage extension if the server has it.
    ///   - drawsPointer: Whether to draw the pointer into the pictures if the server reports its shape.
    ///   - watchesLock: Whether to keep `isLocked` up to date.
    ///   - onWarning: Receives a line for anything that doesn't work as well as it could, and for each of the first
    ///     errors that the server reports for requests without a reply.
    public init(
        display: String? = nil, target: CaptureTarget = .screen, hidden: [WindowSelector] = [],
        methods: [GrabMethod] = GrabMethod.allCases, usesDamage: Bool = true, drawsPointer: Bool = true,
        watchesLock: Bool = false, onWarning: @escaping (String) -> Void = { _ in }
    ) throws(X11CaptureError) {
        connection = try X11Connection(display: display)
        self.onWarning = onWarning
        wantsPointer = drawsPointer
        try connection.announceXFixes()
        randrEvent = try connection.selectScreenChanges()
        source = try connection.source(of: target, onWarning: onWarning)
        size = source.size
        grabber = try ScreenGrabber(connection, methods: methods)
        pointer = try Pointer(connection, onWarning: onWarning)
        damage = usesDamage ? try DamageTracker(connection, window: source.window) : nil
        if damage == nil { comparison = TileComparison() }
        comparison?.reset(source.size)
        if source is WindowSource {
            self.hidden = nil
            if !hidden.isEmpty { onWarning("a window is captured without what covers it: nothing to hide") }
        } else {
            self.hidden = hidden.isEmpty ? nil : try HiddenWindows(connection, hidden)
        }
        for selector in self.hidden?.missing ?? [] {
            onWarning(
                "no window is '\(PrintableText.harmless(selector.description))' yet; it is hidden as soon as it comes")
        }
        lock = watchesLock ? try ScreenLock(connection) : nil
        xcb_flush(connection.handle)
    }

    /// Whether `takeChanges` may find something to draw; always true if the server doesn't report changes (see
    /// `pollDue`).
    public var mayHaveChanged: Bool {
        if isWaiting { return false }
        return isIncomplete || damage?.isDamaged ?? true || hidden?.changes.isEmpty == false
            || drawn.isOutdated(pointer, at: pointerArea)
    }

    /// A descriptor that is readable when the server has sent something.
    public var fileDescriptor: Int32 { connection.fileDescriptor }

    /// The time at which to call `takeChanges` if the server doesn't report changes: `period` after the last look, or
    /// later while nothing changes. Never, if the server does report changes.
    public func pollDue(period: Interval) -> MonotonicTime {
        guard !isWaiting, let comparison else { return .distantFuture }
        // Comparing tiles doesn't notice changes of the pointer or of hidden windows.
        let isExpected = drawn.isOutdated(pointer, at: pointerArea) || hidden?.changes.isEmpty == false
        return comparison.due(period: period, isExpected: isExpected)
    }

    /// Reads what the server has sent; returns true if the size of the area has changed since the last call.
    ///
    /// If `fileDescriptor` or `pointerDescriptor` isn't readable, passing false for `isReadable` or `isPointerReadable`
    /// saves a system call; what arrived with replies is read all the same. Throws if the captured window, monitor or
    /// region is gone for good.
    public func readEvents(isReadable: Bool = true, isPointerReadable: Bool = true) throws(X11CaptureError) -> Bool {
        if isReadable {
            while let event = xcb_poll_for_event(connection.handle) { take(event) }
        } else {
            while let event = xcb_poll_for_queued_event(connection.handle) { take(event) }
        }
        try connection.check()
        if isRearranged || isRefused {
            if isRearranged { hidden?.outdate() }
            isRefused = false
            source.outdate()
        }
        let before = source.place
        let now = MonotonicTime.now()
        try pointer.readAnswers(isReadable: isPointerReadable, now)
        _ = try source.update(now)
        try hidden?.update()
        try lock?.update()
        if source.place != before { isIncomplete = true }
        // If only the window's pixmap is new, the count of refusals goes on, because that may be refused too.
        if isRearranged || source.place?.area != before?.area {
            isRearranged = false
            isIncomplete = true
            refusals = 0
        }
        if source.size == size { return false }
        size = source.size
        comparison?.reset(size)
        return true
    }

    /// Returns what has to be taken again since the last call: what was drawn, where the pointer was, and where it is
    /// now. The area is empty if the server refused the request, and while there is nothing to take pictures of.
    ///
    /// On a still screen this costs one round trip, or none if the pointer isn't drawn or the server reports where it
    /// moves.
    public func takeChanges() throws(X11CaptureError) -> DamagedArea {
        changes.removeAll(keepingCapacity: true)
        if try source.follow() { isIncomplete = true }
        guard let place = source.place else {
            area.set(changes, in: size)
            return area
        }
        // All requests are sent before the first reply is waited for.
        let isDamaged = damage?.isDamaged == true
        let needsPlace = drawsPointer && !pointer.isFollowed
        let question = isDamaged || needsPlace ? pointer.ask(source.window) : nil
        let asked = isDamaged ? damage?.ask() : nil
        if let question, try pointer.look(question, .now()) {
            _ = try pointer.look(pointer.ask(source.window), .now())
        }
        if let asked {
            try damage?.collect(asked, movedBy: (-place.origin.x, -place.origin.y), into: &changes)
        } else {
            // A reply may have brought a damage event.
            try drain()
            if damage?.isDamaged == true, let asked = damage?.ask() {
                try damage?.collect(asked, movedBy: (-place.origin.x, -place.origin.y), into: &changes)
            }
        }
        if comparison != nil, try !compare(place) {
            area.set([], in: size)
            return area
        }
        addHiddenChanges(place)
        drawn.update(pointer, at: pointerArea, changes: &changes)
        if isIncomplete {
            isIncomplete = false
            changes.removeAll(keepingCapacity: true)
            changes.append(whole)
        }
        area.set(changes, in: size)
        return area
    }

    /// Returns the whole area, or an empty one while there is none; whatever was drawn up to now no longer counts as a
    /// change.
    public func takeEverything() throws(X11CaptureError) -> DamagedArea {
        _ = try takeChanges()
        if isWaiting { return area }
        isIncomplete = false
        return DamagedArea([whole], in: size)
    }

    /// Hands out the pixels of `area` in pieces. A piece is whole rows and begins at even coordinates. If the pointer
    /// is drawn, it is where `takeChanges` saw it.
    ///
    /// Returns false if the server refused, as it does while the screen changes its size: some pieces may be missing,
    /// and `isIncomplete` is set. Throws if the server keeps refusing.
    public func grab(_ area: DamagedArea, _ body: (GrabbedPixels) -> Void) throws(X11CaptureError) -> Bool {
        guard let place = source.place else {
            isIncomplete = true
            return false
        }
        return try completes { () throws(X11CaptureError) in
            try grab(area.rectangles, place) { pixels in
                drawn.draw(into: pixels, format: pixelFormat)
                body(pixels)
            }
            if !area.isEmpty { refusals = 0 }
        }
    }

    /// Whether something was drawn since `takeChanges`, as far as the replies to `grab` brought the news: the pixels
    /// handed out may then be torn. Costs no system call; false if the server doesn't report changes.
    public func hasChangedMeanwhile() -> Bool {
        while let event = xcb_poll_for_queued_event(connection.handle) { take(event) }
        return damage?.isDamaged == true
    }

    /// Takes the events that came with replies since `readEvents`; returns true if there were any. `readEvents` must
    /// then be called before its thread sleeps, because `fileDescriptor` isn't readable for them. Costs no system call.
    public func takeQueuedEvents() -> Bool {
        var hasTaken = false
        while let event = xcb_poll_for_queued_event(connection.handle) {
            take(event)
            hasTaken = true
        }
        return hasTaken
    }

    private var whole: PixelRectangle { PixelRectangle(x: 0, y: 0, width: size.width, height: size.height) }

    /// The area where the pointer is to be drawn; empty if it isn't drawn.
    private var pointerArea: PixelRectangle {
        guard drawsPointer, let place = source.place, let at = pointer.place, !pointer.shape.isInvisible else {
            return PixelRectangle(x: 0, y: 0, width: 0, height: 0)
        }
        return PixelRectangle(
            x: at.x - place.origin.x - pointer.shape.hotX, y: at.y - place.origin.y - pointer.shape.hotY,
            width: pointer.shape.width, height: pointer.shape.height)
    }

    private func addHiddenChanges(_ place: CapturePlace) {
        guard let hidden else { return }
        // Whatever is drawn below a blanked area stays invisible.
        for blank in hidden.blanked {
            let blank = blank.moved(x: -place.origin.x, y: -place.origin.y)
            changes.removeAll { $0.intersection(blank) == $0 }
        }
        for change in hidden.changes { changes.append(change.moved(x: -place.origin.x, y: -place.origin.y)) }
        hidden.forgetChanges()
    }

    /// Finds the tiles that have changed; returns false if the server refused.
    private func compare(_ place: CapturePlace) throws(X11CaptureError) -> Bool {
        guard var comparison = comparison.take() else { return true }
        defer { self.comparison = comparison }
        let count = changes.count
        var changes: [PixelRectangle] = []
        swap(&changes, &self.changes)
        comparison.begin(.now())
        let isComplete = try completes { () throws(X11CaptureError) in
            try grab([whole], place) { comparison.look(at: $0, pixelFormat, changes: &changes) }
        }
        if isComplete { comparison.end(foundChanges: changes.count > count) }
        self.changes = changes
        return isComplete
    }

    /// Hands out pixels in which hidden windows are blank.
    private func grab(
        _ rectangles: [PixelRectangle], _ place: CapturePlace, _ body: (GrabbedPixels) -> Void
    ) throws(X11CaptureError) {
        guard let hidden else {
            return try grabber.grab(rectangles, of: place, source.layout) { pixels in body(pixels) }
        }
        hidden.isTakingPicture = true
        defer { hidden.isTakingPicture = false }
        try grabber.grab(rectangles, of: place, source.layout) { (pixels) throws(X11CaptureError) in
            // All events older than these pixels are already in the queue.
            try drain()
            for blank in hidden.blanked {
                pixels.blank(blank.moved(x: -place.origin.x, y: -place.origin.y), pixelFormat)
            }
            body(pixels)
        }
    }

    /// Handles the events that came with replies.
    private func drain() throws(X11CaptureError) {
        while let event = xcb_poll_for_queued_event(connection.handle) { take(event) }
        try hidden?.update()
    }

    /// Runs `body`; returns false if the server refused its request, and throws if the server keeps refusing.
    ///
    /// The screen may have shrunk for a moment. An event with the news is then on its way, and restarts the count of
    /// refusals.
    private func completes(_ body: () throws(X11CaptureError) -> Void) throws(X11CaptureError) -> Bool {
        do {
            try body()
            return true
        } catch .requestRefused(let request, let code) {
            isIncomplete = true
            isRefused = true
            refusals += 1
            if refusals >= Self.mostRefusals { throw .requestRefused(request: request, code: code) }
            return false
        }
    }

    private func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
        defer { free(event) }
        let type = event.pointee.response_type & 0x7F
        if type == 0 { return warn(of: event) }
        // Ignore events made with SendEvent: any program can forge them.
        if event.pointee.response_type & 0x80 != 0 { return }
        if damage?.take(event) == true || pointer.take(event) { return }
        if let randrEvent, type == randrEvent || type == randrEvent + 1 {
            isRearranged = true
            return
        }
        if type == UInt8(XCB_CONFIGURE_NOTIFY),
            UnsafePointer(event).cast(to: xcb_configure_notify_event_t.self).window == connection.root
        {
            isRearranged = true
            return
        }
        // More than one object may need the same event.
        _ = source.take(event)
        _ = hidden?.take(event)
        _ = lock?.take(event)
    }

    /// Warns of an error from a request without a reply (X protocol, "Errors": the type is 0).
    private func warn(of event: UnsafeMutablePointer<xcb_generic_event_t>) {
        lateErrors += 1
        // The error may come with every picture, so the number of warnings is limited.
        if lateErrors > 10 { return }
        let error = UnsafeRawPointer(event).loadUnaligned(as: xcb_generic_error_t.self)
        onWarning(
            "the X server reports error \(error.error_code) of request \(error.major_code).\(error.minor_code)")
    }
}
