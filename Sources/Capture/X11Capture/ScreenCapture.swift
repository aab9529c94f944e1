import CXCB
import Glibc
public import MediaTypes

/// A screen of an X server, or a part of it: tells what changes there, and hands out its pixels.
///
/// All rectangles are in pixels of the captured area. Not thread-safe. Its thread polls `fileDescriptor` and
/// `pointerDescriptor` for reading, and asks `takeQueuedEvents` before each poll, because waiting for a reply may have taken
/// events off the connection; it calls `readEvents` after that, and at `nextCheck`, `lookAtPointer` at `nextPointerLook` and
/// `takeChanges` at `pollDue` even if nothing came.
public final class ScreenCapture {
    /// The captured area's size in pixels; changes only inside `readEvents`, which then says so.
    public private(set) var size: PictureSize
    /// How a pixel stands in memory.
    public var pixelFormat: ScreenPixelFormat { source.layout.format }
    /// How pixels are taken.
    public var grabMethod: GrabMethod { grabber.method }
    /// Whether the server says what changes; without that every picture is compared with the one before.
    public var reportsDamage: Bool { damage != nil }
    /// Whether there is nothing to take pictures of for now: the window isn't mapped, or the monitor is off.
    public var isWaiting: Bool { source.place == nil }
    /// Whether the server refused to hand out pixels, as while the screen changes its size, or the area has come back: the
    /// next `takeChanges` gives all of it.
    public private(set) var isIncomplete = false
    /// When `readEvents` has something to do even if the server sends nothing.
    public var nextCheck: MonotonicTime { source.nextCheck }
    /// Whether the screen is locked or blanked; false where that isn't watched. Changes only inside `readEvents`.
    public var isLocked: Bool { lock?.isLocked ?? false }
    /// Whether the pointer is drawn into the pictures; false where the server doesn't tell its shape.
    ///
    /// Where that changes, the place where it was or is drawn has changed.
    public var drawsPointer: Bool {
        get { wantsPointer && pointer.hasShape }
        set { wantsPointer = newValue }
    }

    let connection: X11Connection
    let source: any CaptureSource
    let pointer: Pointer
    // What `lookAtPointer` and `takePointerShape` gave last.
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
    // The server told of a new arrangement of the screen, perhaps of the same size again.
    private var isRearranged = false
    private var isRefused = false
    private var refusals = 0
    private var lateErrors = 0

    /// A refusal that isn't followed by news of the area so many times is no race but an error.
    private static let mostRefusals = 3

    /// Connects to `display`, or to what DISPLAY names, and finds `target` there.
    ///
    /// What of the windows `hidden` lies in the area is black in every picture, unless `target` is a window that is seen without what
    /// covers it. `methods` are tried in turn. `usesDamage` and `drawsPointer` turn off what the server may well have. `watchesLock` keeps `isLocked`.
    /// `onWarning` gets a line for what doesn't work as well as it could, and for each of the first errors that the server
    /// reports of requests without an answer.
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

    /// Whether `takeChanges` may find something to draw; always where the server doesn't say (see `pollDue`).
    public var mayHaveChanged: Bool {
        if isWaiting { return false }
        return isIncomplete || damage?.isDamaged ?? true || hidden?.changes.isEmpty == false
            || drawn.isOutdated(pointer, at: pointerArea)
    }

    /// Readable when the server has sent something.
    public var fileDescriptor: Int32 { connection.fileDescriptor }

    /// When `takeChanges` is to be called where the server doesn't tell of changes, `period` after the last look, or later
    /// while nothing changes; never where it does.
    public func pollDue(period: Interval) -> MonotonicTime {
        guard !isWaiting, let comparison else { return .distantFuture }
        // No tile tells of the pointer, or of what is blanked.
        let isExpected = drawn.isOutdated(pointer, at: pointerArea) || hidden?.changes.isEmpty == false
        return comparison.due(period: period, isExpected: isExpected)
    }

    /// Takes what the server has sent; true where the area has another size since the last call.
    ///
    /// Where `fileDescriptor` or `pointerDescriptor` isn't readable, `isReadable` and `isPointerReadable` save a system call: what
    /// came with answers is taken all the same.
    /// Throws where the captured window, monitor or region is gone for good.
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
        // Another pixmap of the same window is no news: it may be refused just as the last one.
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

    /// What has to be taken again since the last call: what was drawn, where the pointer was, and where it is now; nothing
    /// where the server refused to tell, and while there is nothing to take pictures of.
    ///
    /// On a still screen this costs one round trip, or none where the pointer isn't drawn or the server tells where it goes.
    public func takeChanges() throws(X11CaptureError) -> DamagedArea {
        changes.removeAll(keepingCapacity: true)
        if try source.follow() { isIncomplete = true }
        guard let place = source.place else {
            area.set(changes, in: size)
            return area
        }
        // All is asked before the first answer is waited for.
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
            // The round trip may have brought the event.
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

    /// The whole area, or nothing while there is none; what was drawn up to now doesn't count as a change any longer.
    public func takeEverything() throws(X11CaptureError) -> DamagedArea {
        _ = try takeChanges()
        if isWaiting { return area }
        isIncomplete = false
        return DamagedArea([whole], in: size)
    }

    /// Hands out the pixels of `area`, with the pointer where `takeChanges` saw it if it is to be drawn, in pieces of whole
    /// rows that begin at even coordinates.
    ///
    /// Gives false where the server refused, as it does while the screen changes its size: some pieces may be missing, and
    /// `isIncomplete` is set. A server that goes on refusing is an error.
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

    /// Whether something was drawn since `takeChanges`, as far as came with the answers of `grab`: what it handed out may be torn
    /// then. Costs no system call; false where the server doesn't tell of changes.
    public func hasChangedMeanwhile() -> Bool {
        while let event = xcb_poll_for_queued_event(connection.handle) { take(event) }
        return damage?.isDamaged == true
    }

    /// Takes what came with answers since `readEvents`; true where there was something, which that has to see before its thread
    /// sleeps: `fileDescriptor` isn't readable for it. Costs no system call.
    public func takeQueuedEvents() -> Bool {
        var hasTaken = false
        while let event = xcb_poll_for_queued_event(connection.handle) {
            take(event)
            hasTaken = true
        }
        return hasTaken
    }

    private var whole: PixelRectangle { PixelRectangle(x: 0, y: 0, width: size.width, height: size.height) }

    /// Where the pointer's pixels are to be drawn; empty where none are.
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
        // What is drawn under a blank place shows nothing.
        for blank in hidden.blanked {
            let blank = blank.moved(x: -place.origin.x, y: -place.origin.y)
            changes.removeAll { $0.intersection(blank) == $0 }
        }
        for change in hidden.changes { changes.append(change.moved(x: -place.origin.x, y: -place.origin.y)) }
        hidden.forgetChanges()
    }

    /// Looks which tiles have changed; false where the server refused.
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
            // What happened before these pixels were taken has arrived before them.
            try drain()
            for blank in hidden.blanked {
                pixels.blank(blank.moved(x: -place.origin.x, y: -place.origin.y), pixelFormat)
            }
            body(pixels)
        }
    }

    /// Takes the events that have come with answers.
    private func drain() throws(X11CaptureError) {
        while let event = xcb_poll_for_queued_event(connection.handle) { take(event) }
        try hidden?.update()
    }

    /// False where the server refused what `body` asked for; throws where that keeps on.
    ///
    /// The screen may have shrunk for a moment. News of that are on the way then: they count the refusals from 0 again.
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
        // What another program sends in the server's name proves nothing.
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
        // More than one may want to know of the same event.
        _ = source.take(event)
        _ = hidden?.take(event)
        _ = lock?.take(event)
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
