import CXCB
import MediaTypes

/// Tracks windows that no picture may show: where they were on the screen at every moment at which a picture may have
/// been taken.
///
/// These are the windows that the user named, and all other windows of their programs: dialogs, menus and tooltips.
///
/// Events arrive in the order in which things happened, and before the reply to any request that was carried out after
/// them. So when the reply with the pixels is here, the state that the events describe is at least as new as the
/// pixels. Places that a window has left in the meantime stay blank until the picture is done.
final class HiddenWindows {
    /// The areas to blank in the picture that is being taken, in the root window's coordinates.
    private(set) var blanked: [PixelRectangle] = []
    /// Areas that were blanked until now, or are from now on: changes that the server need not report as damage.
    private(set) var changes: [PixelRectangle] = []
    private let connection: X11Connection
    private let selectors: [WindowSelector]
    private let search: WindowSearch
    private let telling: Set<xcb_atom_t>
    // The root window's children.
    private var frames: [xcb_window_t: Frame] = [:]
    // The windows inside them, and the programs that these belong to.
    private var programs = ProgramWindows()
    // Places that hidden windows left while a picture was being taken.
    private var left: [PixelRectangle] = []
    private var needsLook = false
    private var needsWholeLook = false

    private struct Frame {
        /// The area, including the border.
        var area: PixelRectangle
        var isMapped: Bool
        /// Remains true until the window is destroyed: a new title doesn't make it less private.
        var isHidden = false
        /// Whether an event reported its geometry. The result of a query may be newer than the pixels, and must not
        /// replace it.
        var isSizeKnown = false
        /// Whether it has no pixels of its own (InputOnly), so that nothing of it can be seen.
        var isInputOnly = false
        /// Whether it has to be queried: it is new, a relevant property may have changed, or a window may have come
        /// into it.
        var needsLook = false
    }

    private static let events = UInt32(
        XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)

    init(_ connection: X11Connection, _ selectors: [WindowSelector]) throws(X11CaptureError) {
        self.connection = connection
        search = try WindowSearch(connection)
        var atoms = Set(
            try connection.atoms([
                "_NET_WM_NAME", "WM_NAME", "WM_CLASS", "WM_TRANSIENT_FOR", "WM_CLIENT_LEADER", "_NET_WM_PID",
                "WM_CLIENT_MACHINE",
            ]))
        atoms.remove(0)
        telling = atoms
        // A window that lies deep inside another also hides the child of the root window that contains it.
        var wanted: [WindowSelector] = []
        for selector in selectors {
            wanted.append(selector)
            if case .identifier(let identifier) = selector, let frame = try search.frame(of: identifier) {
                wanted.append(.identifier(frame))
            }
        }
        self.selectors = wanted
        connection.select(UInt32(XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue), on: connection.root)
        let found = try search.windows(below: [connection.root], watching: Self.events)
        try adopt(found)
        missing = selectors.filter { selector in !found.contains { WindowSearch.matches($0, selector) } }
        arrange()
    }

    /// Which of the selectors no window matches so far.
    private(set) var missing: [WindowSelector] = []

    /// Whether pixels are on their way that may be from any moment since they were requested.
    var isTakingPicture = false {
        didSet {
            if isTakingPicture || left.isEmpty { return }
            left.removeAll(keepingCapacity: true)
            arrange()
        }
    }

    /// Has every window queried again: a new layout of the screen may move windows without sending events for them.
    func outdate() {
        needsWholeLook = true
        needsLook = true
    }

    /// Handles an event; returns whether it was about a window on the screen.
    func take(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
        switch Int32(event.pointee.response_type & 0x7F) {
        case XCB_CREATE_NOTIFY:
            let created = event.cast(to: xcb_create_notify_event_t.self)
            if created.parent != connection.root {
                look(at: programs.frame(of: created.parent))
                return true
            }
            frames[created.window] = Frame(
                area: Self.area(created.x, created.y, created.width, created.height, created.border_width),
                isMapped: false, isSizeKnown: true, needsLook: true)
            programs.add(created.window)
        case XCB_MAP_NOTIFY:
            let mapped = event.cast(to: xcb_map_notify_event_t.self)
            if mapped.event != connection.root {
                look(at: programs.frame(of: mapped.event))
                return true
            }
            frames[mapped.window, default: Self.unknown].isMapped = true
            look(at: mapped.window)
            show(mapped.window)
        case XCB_UNMAP_NOTIFY:
            let unmapped = event.cast(to: xcb_unmap_notify_event_t.self)
            if unmapped.event != connection.root { return true }
            leave(unmapped.window)
            frames[unmapped.window]?.isMapped = false
        case XCB_DESTROY_NOTIFY:
            let destroyed = event.cast(to: xcb_destroy_notify_event_t.self)
            if destroyed.event == connection.root {
                leave(destroyed.window)
                frames[destroyed.window] = nil
            }
            programs.end(destroyed.window)
            needsLook = true
        case XCB_REPARENT_NOTIFY:
            let reparented = event.cast(to: xcb_reparent_notify_event_t.self)
            look(at: programs.frame(of: reparented.event))
            guard reparented.event == connection.root else { return true }
            if reparented.parent == connection.root {
                // If it is mapped, an event follows. Its size is queried then.
                frames[reparented.window] = Frame(
                    area: PixelRectangle(x: Int(reparented.x), y: Int(reparented.y), width: 0, height: 0),
                    isMapped: false)
                if programs.frame(of: reparented.window) == nil { programs.add(reparented.window) }
                programs.move(reparented.window, into: reparented.window)
                look(at: reparented.window)
            } else {
                leave(reparented.window)
                frames[reparented.window] = nil
                let frame = programs.frame(of: reparented.parent)
                programs.move(reparented.window, into: frame)
                look(at: frame)
            }
        case XCB_CONFIGURE_NOTIFY:
            let configured = event.cast(to: xcb_configure_notify_event_t.self)
            if configured.event != connection.root { return true }
            leave(configured.window)
            frames[configured.window]?.area = Self.area(
                configured.x, configured.y, configured.width, configured.height, configured.border_width)
            frames[configured.window]?.isSizeKnown = true
            show(configured.window)
        case XCB_PROPERTY_NOTIFY:
            let changed = event.cast(to: xcb_property_notify_event_t.self)
            guard let frame = programs.frame(of: changed.window) else { return false }
            if telling.contains(changed.atom) { look(at: frame) }
        default: return false
        }
        return true
    }

    /// Queries the titles and programs of the windows that the events were about. Call it before pixels are handed out.
    func update() throws(X11CaptureError) {
        if !needsLook { return }
        needsLook = false
        if needsWholeLook {
            needsWholeLook = false
            for window in frames.keys {
                leave(window)
                frames[window]?.isSizeKnown = false
            }
            try adopt(try search.windows(below: [connection.root], watching: Self.events))
            for window in frames.keys { show(window) }
        }
        // Query windows that aren't mapped along with those that are: a visible one may be the dialog of an unmapped
        // one.
        let outdated = frames.filter(\.value.needsLook).map(\.key)
        if outdated.contains(where: { frames[$0]?.isMapped == true }) {
            for window in outdated { frames[window]?.needsLook = false }
            let found = try search.windows(below: outdated, watching: Self.events)
            try adopt(found)
            let there = Set(found.lazy.map(\.frame))
            // These were destroyed in the meantime, and events will report it. What they were can't be found out any
            // more, so hide them.
            for window in outdated where !there.contains(window) && frames[window]?.isMapped == true { hide(window) }
        }
        programs.forgetGone()
        needsLook = false
        arrange()
    }

    /// Adds `changes`, which are then forgotten, to what has changed in pictures whose top left corner is at `origin`.
    func takeChanges(_ origin: (x: Int, y: Int), into others: inout [PixelRectangle]) {
        // Whatever is drawn below a blanked area stays invisible.
        for blank in blanked {
            let blank = blank.moved(x: -origin.x, y: -origin.y)
            others.removeAll { $0.intersection(blank) == $0 }
        }
        for change in changes { others.append(change.moved(x: -origin.x, y: -origin.y)) }
        changes.removeAll(keepingCapacity: true)
    }

    private func adopt(_ found: [FoundWindow]) throws(X11CaptureError) {
        for window in found where window.identifier == window.frame {
            let area = PixelRectangle(
                x: window.area.x - window.border, y: window.area.y - window.border,
                width: window.area.width + 2 * window.border, height: window.area.height + 2 * window.border)
            let old = frames[window.frame]
            if old?.isSizeKnown != true { frames[window.frame, default: Self.unknown].area = area }
            if window.isViewable { frames[window.frame]?.isMapped = true }
            frames[window.frame]?.isInputOnly = window.isInputOnly
        }
        for var window in found {
            window.program.mains = try mains(of: window)
            programs.note(window, isPrivate: selectors.contains { WindowSearch.matches(window, $0) })
        }
        for frame in programs.spread() { hide(frame) }
    }

    /// The windows that `window` is transient for, each with the child of the root window that it lies in.
    private func mains(of window: FoundWindow) throws(X11CaptureError) -> [xcb_window_t] {
        var result: [xcb_window_t] = []
        var main = window.transientFor
        // Longer chains and circular ones don't come from real programs.
        while main != 0, main != connection.root, !result.contains(main), result.count < 32 {
            result.append(main)
            var frame = programs.frame(of: main)
            if frame == nil { frame = try search.frame(of: main) }
            if let frame { result.append(frame) }
            main = try search.transientFor(main)
        }
        return result
    }

    private func hide(_ window: xcb_window_t) {
        guard let frame = frames[window], !frame.isHidden, !frame.isInputOnly else { return }
        frames[window]?.isHidden = true
        show(window)
    }

    /// Notes that a hidden window is about to leave its current place.
    private func leave(_ window: xcb_window_t) {
        // A window that hasn't been queried yet may have to be hidden as well.
        guard let frame = frames[window], frame.isHidden || frame.needsLook, frame.isMapped else { return }
        if isTakingPicture { left.append(frame.area) }
        addChange(frame.area)
        needsLook = true
    }

    /// Notes that a hidden window has come to its current place.
    private func show(_ window: xcb_window_t) {
        guard let frame = frames[window], frame.isHidden, frame.isMapped else { return }
        addChange(frame.area)
        needsLook = true
    }

    /// Adds to `changes`. The list is bounded, because it may be a long time before anybody takes it.
    private func addChange(_ area: PixelRectangle) {
        if changes.last == area { return }
        if changes.count == 32 { changes = [changes.reduce(area) { $0.union($1) }] } else { changes.append(area) }
    }

    private func look(at window: xcb_window_t?) {
        guard let window else { return }
        frames[window]?.needsLook = true
        needsLook = true
    }

    private func arrange() {
        blanked.removeAll(keepingCapacity: true)
        blanked += left
        for frame in frames.values where frame.isHidden && frame.isMapped { blanked.append(frame.area) }
    }

    private static let unknown = Frame(area: PixelRectangle(x: 0, y: 0, width: 0, height: 0), isMapped: false)

    private static func area(_ x: Int16, _ y: Int16, _ width: UInt16, _ height: UInt16, _ border: UInt16)
        -> PixelRectangle
    {
        PixelRectangle(
            x: Int(x), y: Int(y), width: Int(width) + 2 * Int(border), height: Int(height) + 2 * Int(border))
    }
}
