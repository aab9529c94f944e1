import CXCB
public import CaptureEngine
import CaptureLink
import Clocks
public import ColorConversion
public import MediaTypes

/// A screen of an X server, or a part of it. Not thread-safe.
public final class ScreenCapture: ScreenSource {
    public let target: CaptureTarget
    public private(set) var size: PictureSize
    public var pixelFormat: ScreenToPlanes.PixelFormat { tracked.layout.format }
    /// The method by which pixels are taken.
    public var grabMethod: GrabMethod { grabber.method }
    public var reportsDamage: Bool { damage != nil }
    public var showsAllChanges: Bool { target == .screen && hidden == nil && !overlay.isShown }
    public var isWaiting: Bool { tracked.place == nil }
    /// Whether the next `fetchDamage` returns the whole area: after the server refused pixels (it does so while the
    /// screen changes its size), after the screen was rearranged, and after the area moved or came back.
    public internal(set) var needsFullGrab = false
    public internal(set) var hasPendingDamage = false
    public var fileDescriptor: Int32 { connection.fileDescriptor }
    public var nextCheck: MonotonicTime { min(tracked.nextCheck, overlay.due) }
    /// Whether the screen is locked or blanked; false if that isn't watched. Changes only in `readEvents`.
    public var isLocked: Bool { watchesLock && lock?.isLocked == true }
    /// Whether the X server's own screen saver counts as a lock: if that is watched, and the server has the extension.
    public var watchesSaver: Bool { watchesLock && lock?.hasSaver == true }
    public var description: String {
        "\(target) of \(size), pictures by \(grabMethod.rawValue)"
            + (reportsDamage ? "" : "; the display doesn't tell what changes, so each picture is compared")
    }

    let connection: X11Connection
    let tracked: any TrackedTarget
    let pointer: Pointer
    var wantsPointer: Bool
    // What `lookAtPointer` and `takePointerShape` last returned.
    var toldPosition: PointerPosition?
    var toldShape: Int?
    let grabber: ScreenGrabber
    private let events: ScreenEvents
    let tracker: DamageTracker?
    let damage: (any DamageSource)?
    var comparison: TileComparison?
    let hidden: HiddenWindows?
    let overlay: PointingOverlay
    private let watchesLock: Bool
    /// nil until it is needed.
    var lock: ScreenLock?
    var drawn = DrawnPointer()
    // Kept so that a picture needs no allocation.
    var changes: [PixelRectangle] = []
    var area = DamagedArea()
    // How many more pictures are taken at once, because something was painted while one was taken. After as many that
    // were not disturbed, the memory for that is given back.
    var takesAtOnce = -ScreenCapture.disturbed
    // Whether the grabber has kept pixels of the same time as the changes that `fetchDamage` has returned.
    var isKept = false
    var isRefused = false
    var refusals = 0

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
    /// - Throws: ``X11CaptureError`` if the display can't be opened, if `target` isn't there or not clear, if no method
    ///   works, or if `hidden` isn't empty and the display lacks what hiding needs.
    public init(
        display: String? = nil, target: CaptureTarget = .screen, hidden: [WindowSelector] = [],
        methods: [GrabMethod] = GrabMethod.allCases, usesDamage: Bool = true, drawsPointer: Bool = true,
        watchesLock: Bool = false, onWarning: @escaping (String) -> Void = { _ in }
    ) throws(X11CaptureError) {
        connection = try X11Connection(display: display)
        self.target = target
        wantsPointer = drawsPointer
        try connection.announceXFixes()
        events = try ScreenEvents(connection, onWarning: onWarning)
        tracked = try connection.find(target, onWarning: onWarning)
        size = tracked.size
        grabber = try ScreenGrabber(connection, methods: methods)
        pointer = try Pointer(connection, onWarning: onWarning)
        overlay = PointingOverlay(connection)
        if tracked is TrackedWindow {
            self.hidden = nil
            if !hidden.isEmpty { onWarning("a window is captured without what covers it: nothing to hide") }
        } else {
            self.hidden = hidden.isEmpty ? nil : try HiddenWindows(connection, hidden)
        }
        let reportsWindows = self.hidden != nil
        tracker = usesDamage && !reportsWindows ? try DamageTracker(connection, window: tracked.window) : nil
        damage = self.hidden?.composition ?? tracker
        if damage == nil { comparison = TileComparison() }
        comparison?.reset(tracked.size)
        for selector in self.hidden?.missing ?? [] {
            onWarning(
                "no window is '\(PrintableText.harmless(selector.description))' yet; it is hidden as soon as it comes")
        }
        self.watchesLock = watchesLock
        if watchesLock { lock = try ScreenLock(connection) }
        xcb_flush(connection.handle)
    }

    public var mayHaveChanged: Bool {
        if isWaiting { return false }
        return needsFullGrab || damage?.isDamaged ?? true || hidden?.changes.isEmpty == false
            || !overlay.changes.isEmpty || drawn.isStale(pointer.shapeNumber, at: pointerArea)
    }

    public func pollDue(period: Interval) -> MonotonicTime {
        guard !isWaiting, let comparison else { return .distantFuture }
        // Comparing tiles doesn't notice changes of the pointer.
        let isExpected = drawn.isStale(pointer.shapeNumber, at: pointerArea)
        return comparison.due(period: period, isExpected: isExpected)
    }

    /// Throws if the captured window, monitor or region is gone for good.
    public func readEvents(isReadable: Bool = true, isPointerReadable: Bool = true) throws(CaptureError) -> Bool {
        do throws(X11CaptureError) {
            handleEvents(isReadable)
            try connection.check()
            // It asks for pixels, whose replies may bring events.
            if overlay.due <= .now() { try updateOverlay(.now()) }
            if events.isRearranged || isRefused {
                if events.isRearranged {
                    hidden?.invalidate()
                    lock?.invalidate()
                }
                isRefused = false
                tracked.invalidate()
            }
            let before = tracked.place
            let now = MonotonicTime.now()
            try pointer.readAnswers(isReadable: isPointerReadable, now)
            try tracked.update(now)
            try hidden?.update()
            try lock?.update()
            if lock?.isLocked == true { overlay.removeAll() }
            if tracked.place != before { needsFullGrab = true }
            // If only the window's pixmap is new, the count of refusals goes on, because that may be refused too.
            if events.isRearranged || tracked.place?.area != before?.area {
                events.isRearranged = false
                needsFullGrab = true
                refusals = 0
            }
            if tracked.size == size { return false }
            size = tracked.size
            comparison?.reset(size)
            return true
        } catch {
            throw .screen(error)
        }
    }

    /// On a still screen this costs one round trip, or none if the pointer isn't drawn or the server reports where it
    /// moves. Throws `CaptureError.screen` if the server keeps refusing requests or the connection ends.
    public func fetchDamage() throws(CaptureError) -> DamagedArea {
        do throws(X11CaptureError) {
            changes.removeAll(keepingCapacity: true)
            if try tracked.follow() { needsFullGrab = true }
            guard let place = tracked.place else {
                area.set(changes, in: size)
                return area
            }
            isKept = false
            // All requests are sent before the first reply is waited for.
            let isDamaged = damage?.isDamaged == true
            let needsPlace = drawsPointer && !pointer.isFollowed
            let cookie = isDamaged || needsPlace ? pointer.sendRequest(tracked.window) : nil
            let keepsAll = isDamaged && isDisturbed && grabber.makeRoom(size.whole, tracked.layout)
            // No program paints between the two requests. They are sent in one piece.
            if keepsAll { xcb_grab_server(connection.handle) }
            let asked = isDamaged ? damage?.sendRequest() : nil
            let all = keepsAll ? grabber.request(size.whole, of: place, tracked.layout) : nil
            if keepsAll { xcb_ungrab_server(connection.handle) }
            if let cookie, try pointer.receiveReply(cookie, .now()) {
                _ = try pointer.receiveReply(pointer.sendRequest(tracked.window), .now())
            }
            if let asked {
                try connection.receiveReply(asked, movedBy: (-place.origin.x, -place.origin.y), into: &changes)
            } else {
                // A reply may have brought a damage event.
                try drain()
                if damage?.isDamaged == true, let asked = damage?.sendRequest() {
                    try connection.receiveReply(asked, movedBy: (-place.origin.x, -place.origin.y), into: &changes)
                }
            }
            overlay.removeOwn((place.area.x, place.area.y), from: &changes)
            // Without damage, nothing tells of changes where the overlay is.
            if comparison != nil, !overlay.tiles.isEmpty { overlay.rest.touched() }
            if let all {
                isKept = try completes { () throws(X11CaptureError) in try grabber.keep(all, of: place, tracked.layout)
                }
            }
            if comparison != nil, try !compare(place) {
                area.set([], in: size)
                return area
            }
            hidden?.fetchDamage(place.origin, into: &changes)
            overlay.fetchDamage(into: &changes)
            drawn.update(pointer.shape, pointer.shapeNumber, at: pointerArea, changes: &changes)
            if needsFullGrab {
                needsFullGrab = false
                changes.removeAll(keepingCapacity: true)
                changes.append(size.whole)
            }
            area.set(changes, in: size)
            return area
        } catch {
            throw .screen(error)
        }
    }

    public func fullDamage() throws(CaptureError) -> DamagedArea {
        _ = try fetchDamage()
        if isWaiting { return area }
        needsFullGrab = false
        return DamagedArea([size.whole], in: size)
    }

    public func pollQueuedEvents() -> Bool { handleEvents(false) }

    /// Handles the events that arrived with replies.
    func drain() throws(X11CaptureError) {
        handleEvents(false)
        try hidden?.update()
    }

    /// Handles the events that have arrived, or only those that arrived with replies; returns whether there were any.
    @discardableResult
    func handleEvents(_ isReadable: Bool) -> Bool {
        events.read(isReadable: isReadable) { event in
            if tracker?.take(event) == true || pointer.take(event) { return }
            connection.forgetDestroyed(event)
            // More than one object may need the same event.
            tracked.take(event)
            hidden?.take(event)
            lock?.take(event)
        }
    }
}
