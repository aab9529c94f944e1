import CXCB
import MediaTypes

/// Windows that no picture may show: where they lie on the screen, at every moment that a picture may have been taken in.
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
    private let names: Set<xcb_atom_t>
    // The root window's children.
    private var frames: [xcb_window_t: Frame] = [:]
    // In which of them another window lies.
    private var owners: [xcb_window_t: xcb_window_t] = [:]
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
        /// A title may have changed, or a window may have come into it.
        var needsLook = false
    }

    private static let events = UInt32(
        XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)

    init(_ connection: X11Connection, _ selectors: [WindowSelector]) throws(X11CaptureError) {
        self.connection = connection
        search = try WindowSearch(connection)
        var atoms = Set(try connection.atoms(["_NET_WM_NAME", "WM_NAME", "WM_CLASS"]))
        atoms.remove(0)
        names = atoms
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
        let found = try search.windows(below: connection.root, watching: Self.events)
        adopt(found)
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
                look(at: owners[created.parent])
                return true
            }
            frames[created.window] = Frame(
                area: Self.area(created.x, created.y, created.width, created.height, created.border_width),
                isMapped: false, isSizeKnown: true)
            owners[created.window] = created.window
        case XCB_MAP_NOTIFY:
            let mapped = event.cast(to: xcb_map_notify_event_t.self)
            if mapped.event != connection.root {
                look(at: owners[mapped.event])
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
            if destroyed.event == connection.root { remove(destroyed.window) }
            owners[destroyed.window] = nil
        case XCB_REPARENT_NOTIFY:
            let reparented = event.cast(to: xcb_reparent_notify_event_t.self)
            if reparented.event != connection.root {
                look(at: owners[reparented.event])
            } else if reparented.parent == connection.root {
                // An event follows where it is mapped. Its size is asked then.
                frames[reparented.window] = Frame(
                    area: PixelRectangle(x: Int(reparented.x), y: Int(reparented.y), width: 0, height: 0),
                    isMapped: false)
                owners[reparented.window] = reparented.window
                look(at: reparented.window)
            } else {
                remove(reparented.window)
                look(at: owners[reparented.parent])
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
            guard let owner = owners[changed.window] else { return false }
            if names.contains(changed.atom) { look(at: owner) }
        default: return false
        }
        return true
    }

    /// Asks for the titles of what the events were about. Call it before pixels are handed out.
    func update() throws(X11CaptureError) {
        if !needsLook { return }
        needsLook = false
        if needsWholeLook {
            needsWholeLook = false
            for window in frames.keys {
                leave(window)
                frames[window]?.isSizeKnown = false
            }
            adopt(try search.windows(below: connection.root, watching: Self.events))
            for window in frames.keys { show(window) }
            needsLook = false
        }
        for (window, frame) in frames where frame.needsLook {
            frames[window]?.needsLook = false
            // A window that is mapped later is looked at then.
            if frame.isMapped, !frame.isHidden {
                let found = try search.windows(below: window, watching: Self.events)
                adopt(found)
                // Destroyed meanwhile, which an event will say; nobody knows any longer what it was.
                if found.isEmpty { frames[window]?.isHidden = true }
                show(window)
            }
        }
        needsLook = false
        arrange()
    }

    /// The changes have been taken.
    func forgetChanges() {
        changes.removeAll(keepingCapacity: true)
    }

    private func adopt(_ found: [FoundWindow]) {
        for window in found {
            owners[window.identifier] = window.frame
            guard window.identifier == window.frame else { continue }
            let area = PixelRectangle(
                x: window.area.x - window.border, y: window.area.y - window.border,
                width: window.area.width + 2 * window.border, height: window.area.height + 2 * window.border)
            let old = frames[window.frame]
            if old?.isSizeKnown != true { frames[window.frame, default: Self.unknown].area = area }
            if window.isViewable { frames[window.frame]?.isMapped = true }
        }
        for window in found where selectors.contains(where: { WindowSearch.matches(window, $0) }) {
            frames[window.frame]?.isHidden = true
        }
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

    private func remove(_ window: xcb_window_t) {
        leave(window)
        frames[window] = nil
        owners = owners.filter { $0.value != window }
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
