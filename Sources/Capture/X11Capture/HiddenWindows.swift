import CXCB
import MediaTypes

/// Windows that no picture may show: where they lie on the screen, at every moment that a picture may have been taken in.
///
/// They are the windows that were named and all other windows of their programs: dialogs, menus and tooltips.
///
/// Events reach us in the order in which things happened, and before the answer to a request that was carried out after
/// them. So what the events say when the answer with the pixels is here is at least as new as the pixels; and the places
/// that a window left meanwhile stay blank until the picture is done.
final class HiddenWindows {
    /// What to blank in the picture that is being taken, in the root window's coordinates.
    private(set) var blanked: [PixelRectangle] = []
    /// Places that were blanked, or are from now on: damage that the server needn't tell of.
    private(set) var changes: [PixelRectangle] = []
    private let connection: X11Connection
    private let selectors: [WindowSelector]
    private let search: WindowSearch
    private let telling: Set<xcb_atom_t>
    // The root window's children.
    private var frames: [xcb_window_t: Frame] = [:]
    // What lies in them, and which programs it belongs to.
    private var programs = ProgramWindows()
    // Places that hidden windows left while a picture was being taken.
    private var left: [PixelRectangle] = []
    private var needsLook = false
    private var needsWholeLook = false

    private struct Frame {
        /// With its border.
        var area: PixelRectangle
        var isMapped: Bool
        /// Stays so until it is destroyed: a title that changes doesn't make it less private.
        var isHidden = false
        /// Whether an event told its size. What a look finds is newer than pixels may be, and must not take its place.
        var isSizeKnown = false
        /// Without pixels of its own (InputOnly): nothing of it can be seen.
        var isInputOnly = false
        /// It is new, a property that counts may have changed, or a window may have come into it.
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
        // A window deep inside another hides the one on the root that it lies in.
        var wanted: [WindowSelector] = []
        for selector in selectors {
            wanted.append(selector)
            if case .identifier(let identifier) = selector, let frame = try search.frame(of: identifier) {
                wanted.append(.identifier(frame))
            }
        }
        self.selectors = wanted
        connection.selectOnRoot(UInt32(XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue))
        let found = try search.windows(below: [connection.root], watching: Self.events)
        try adopt(found)
        missing = selectors.filter { selector in !found.contains { WindowSearch.matches($0, selector) } }
        arrange()
    }

    /// Which of the selectors no window matches so far.
    private(set) var missing: [WindowSelector] = []

    /// Whether pixels are on their way, of a time that isn't known yet.
    var isTakingPicture = false {
        didSet {
            if isTakingPicture || left.isEmpty { return }
            left.removeAll(keepingCapacity: true)
            arrange()
        }
    }

    /// The screen has been arranged anew, which may move windows without an event of theirs.
    func outdate() {
        needsWholeLook = true
        needsLook = true
    }

    /// Whether the event was ours.
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
                // An event follows where it is mapped. Its size is asked then.
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

    /// Asks for the titles and programs of what the events were about. Call it before pixels are handed out.
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
        // With what shows, what doesn't show yet is looked at too: it may be what the other is a dialog of.
        let outdated = frames.filter(\.value.needsLook).map(\.key)
        if outdated.contains(where: { frames[$0]?.isMapped == true }) {
            for window in outdated { frames[window]?.needsLook = false }
            let found = try search.windows(below: outdated, watching: Self.events)
            try adopt(found)
            let there = Set(found.lazy.map(\.frame))
            // Destroyed meanwhile, which an event will say; nobody knows any longer what it was.
            for window in outdated where !there.contains(window) && frames[window]?.isMapped == true { hide(window) }
        }
        programs.forgetGone()
        needsLook = false
        arrange()
    }

    /// The changes have been taken.
    func forgetChanges() {
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
        // Longer chains, and those that bite their tails, are no program's.
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

    /// A hidden window is about to leave the place where it lies.
    private func leave(_ window: xcb_window_t) {
        // One that hasn't been looked at may be meant as well.
        guard let frame = frames[window], frame.isHidden || frame.needsLook, frame.isMapped else { return }
        if isTakingPicture { left.append(frame.area) }
        addChange(frame.area)
        needsLook = true
    }

    /// A hidden window has come to the place where it lies.
    private func show(_ window: xcb_window_t) {
        guard let frame = frames[window], frame.isHidden, frame.isMapped else { return }
        addChange(frame.area)
        needsLook = true
    }

    /// Nobody may come for the changes for a long time.
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
