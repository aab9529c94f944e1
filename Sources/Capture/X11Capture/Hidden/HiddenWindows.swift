import CXCB
import MediaTypes

/// Tracks windows that no picture may show, and composes pictures of all the others.
///
/// These are the windows that the user named, and all other windows of their programs: dialogs, menus and tooltips.
/// Black in the pictures, too, are windows that may show copies of them (``Previewers``).
///
/// Only a window that has been queried and found harmless is ever drawn. Events arrive in the order in which things
/// happened, and a window that an event hasn't announced yet is in no picture.
final class HiddenWindows {
    /// Composes the pictures.
    let composition: ScreenCompositor
    /// Areas that look different now: changes that aren't reported as damage.
    private(set) var changes: [PixelRectangle] = []
    let connection: X11Connection
    private let selectors: [WindowSelector]
    private let search: WindowSearch
    let telling: Set<xcb_atom_t>
    private let compositorSelection: xcb_atom_t
    // The root window's children.
    var frames: [xcb_window_t: Frame] = [:]
    var stack = WindowStack()
    // The windows inside them, and the programs that these belong to.
    var programs = ProgramWindows()
    var previewers = Previewers()
    var needsLook = false
    private var needsWholeLook = false
    /// The most questions about main windows in a turn. Windows that are left stay black until the next turn.
    private static let maxQuestions = 256
    private var questionsLeft = Int.max
    /// The children of the root window about which there were too many questions: they come last in the next turn.
    private var costly: Set<xcb_window_t> = []

    struct Frame {
        /// The area, including the border.
        var area: PixelRectangle
        var border = 0
        var visual: xcb_visualid_t = 0
        var isMapped: Bool
        /// Remains true until the window is destroyed: a new title doesn't make it less private.
        var isHidden = false
        /// Whether it may show copies of hidden windows.
        var isPreview = false
        /// Whether an event reported its geometry, which is newer than the result of a query may be.
        var isSizeKnown = false
        /// Whether it has no pixels of its own (InputOnly), so that nothing of it can be seen.
        var isInputOnly = false
        /// Whether it has to be queried: it is new, a relevant property may have changed, or a window may have come
        /// into it.
        var needsLook = false

        var isBlank: Bool { isHidden || isPreview || needsLook }
        /// The top left corner inside the border.
        var origin: (x: Int, y: Int) { (area.x + border, area.y + border) }
        /// The area in the window's own coordinates.
        var ownArea: PixelRectangle { area.moved(x: -origin.x, y: -origin.y) }
    }

    private static let events = UInt32(
        XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)

    /// Throws if the server lacks an extension that this needs.
    init(_ connection: X11Connection, _ selectors: [WindowSelector]) throws(X11CaptureError) {
        self.connection = connection
        search = try WindowSearch(connection)
        composition = try ScreenCompositor(connection)
        let atoms = try connection.atoms([
            "_NET_WM_CM_S\(connection.screenNumber)", "_NET_WM_NAME", "WM_NAME", "WM_CLASS", "WM_TRANSIENT_FOR",
            "WM_CLIENT_LEADER", "_NET_WM_PID", "WM_CLIENT_MACHINE", "_NET_WM_WINDOW_TYPE",
        ])
        compositorSelection = atoms[0]
        telling = Set(atoms.dropFirst()).subtracting([0])
        // A window that lies deep inside another also hides the child of the root window that contains it.
        var wanted: [WindowSelector] = []
        for selector in selectors {
            wanted.append(selector)
            if case .identifier(let identifier) = selector, let frame = try search.frame(of: identifier) {
                wanted.append(.identifier(frame))
            }
        }
        self.selectors = wanted
        let rootEvents =
            XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue
        connection.select(UInt32(rootEvents), on: connection.root)
        let found = try search.windows(below: [connection.root], watching: Self.events)
        try adopt(found, isWhole: true)
        missing = selectors.filter { selector in !found.contains { WindowSearch.matches($0, selector) } }
        // What a window shows now is its own, except what a hidden window covers, if the window has no pixmap yet.
        let secret = hiddenPlaces
        for (window, frame) in frames where frame.isMapped && !frame.isHidden {
            let known = composition.isRedirected(window) ? [] : secret
            composition.window(window)?.adopt(
                area: frame.ownArea, secret: known.map { $0.moved(x: -frame.origin.x, y: -frame.origin.y) })
        }
        try composition.redirect()
        arrange()
    }

    /// Which of the selectors no window matches so far.
    private(set) var missing: [WindowSelector] = []

    /// Has every window queried again: a new layout of the screen may move windows without sending events for them.
    func invalidate() {
        needsWholeLook = true
        needsLook = true
    }

    /// Queries the titles and programs of the windows that the events were about. Call it before pixels are handed out.
    func update() throws(X11CaptureError) {
        if !needsLook { return }
        needsLook = false
        questionsLeft = Self.maxQuestions
        if needsWholeLook {
            needsWholeLook = false
            for window in frames.keys { frames[window]?.isSizeKnown = false }
            try composition.resize()
            try adopt(try search.windows(below: [connection.root], watching: Self.events), isWhole: true)
            addChange(Self.everything)
        }
        // Query windows that aren't mapped along with those that are: a visible one may be the dialog of an unmapped
        // one.
        let stale = frames.filter(\.value.needsLook).map(\.key)
        if stale.contains(where: { frames[$0]?.isMapped == true }) {
            let found = try search.windows(below: stale, watching: Self.events)
            for window in stale { frames[window]?.needsLook = false }
            try adopt(found, isWhole: false)
            let there = Set(found.lazy.map(\.frame))
            // These were destroyed in the meantime, and events will report it. What they were can't be found out any
            // more, so hide them.
            for window in stale where !there.contains(window) && frames[window]?.isMapped == true { hide(window) }
        }
        programs.forgetGone()
        needsLook = !costly.isEmpty
        arrange()
    }

    /// Adds `changes`, which are then forgotten, to what has changed in pictures whose top left corner is at `origin`.
    func fetchDamage(_ origin: (x: Int, y: Int), into others: inout [PixelRectangle]) {
        for change in changes { others.append(change.moved(x: -origin.x, y: -origin.y)) }
        changes.removeAll(keepingCapacity: true)
    }

    private func adopt(_ found: [FoundWindow], isWhole: Bool) throws(X11CaptureError) {
        let tops = found.filter { $0.identifier == $0.frame }
        if isWhole { stack = WindowStack(tops.map(\.identifier)) }
        let inside = Dictionary(grouping: found.lazy.filter { $0.identifier != $0.frame }, by: \.frame)
        for window in tops {
            let isNew = frames[window.identifier] == nil
            var frame = frames[window.identifier] ?? Self.unknown
            if !frame.isSizeKnown {
                frame.border = window.border
                frame.area = PixelRectangle(
                    x: window.area.x - window.border, y: window.area.y - window.border,
                    width: window.area.width + 2 * window.border, height: window.area.height + 2 * window.border)
            }
            if isNew, window.isViewable { frame.isMapped = true }
            frame.isInputOnly = window.isInputOnly
            frame.visual = window.visual
            frames[window.identifier] = frame
            stack.add(window.identifier)
            if !frame.isHidden, !frame.isInputOnly { composition.follow(window.identifier) }
            previewers.note(window, inside: inside[window.identifier] ?? [])
        }
        let last = costly
        costly = []
        for var window in found.filter({ !last.contains($0.frame) }) + found.filter({ last.contains($0.frame) }) {
            // A program can make any number of windows with long chains: they stay black, and others get their turn.
            if window.transientFor != 0, questionsLeft <= 0 {
                costly.insert(window.frame)
                frames[window.frame]?.needsLook = true
                continue
            }
            window.program.mains = try mains(of: window)
            programs.note(window, isPrivate: selectors.contains { WindowSearch.matches(window, $0) })
        }
        for frame in programs.spread() { hide(frame) }
        previewers.compositor = try connection.owner(of: compositorSelection).map(connection.clientPart(of:)) ?? 0
        let previews = previewers.previews
        for window in frames.keys {
            let isPreview = previews.contains(window)
            if frames[window]?.isPreview == isPreview { continue }
            frames[window]?.isPreview = isPreview
            change(window)
        }
    }

    /// The windows that `window` is transient for, each with the child of the root window that it lies in.
    private func mains(of window: FoundWindow) throws(X11CaptureError) -> [xcb_window_t] {
        var result: [xcb_window_t] = []
        var main = window.transientFor
        // Longer chains and circular ones don't come from real programs.
        while main != 0, main != connection.root, !result.contains(main), result.count < 32 {
            result.append(main)
            var frame = programs.frame(of: main)
            if frame == nil {
                questionsLeft -= 4
                frame = try search.frame(of: main)
            }
            if let frame { result.append(frame) }
            questionsLeft -= 1
            main = try search.transientFor(main)
        }
        return result
    }

    private func hide(_ window: xcb_window_t) {
        guard let frame = frames[window], !frame.isHidden, !frame.isInputOnly else { return }
        frames[window]?.isHidden = true
        composition.forget(window)
        change(window)
    }

    /// Adds to `changes`. The list is bounded, because it may be a long time before the next `fetchDamage`.
    func addChange(_ area: PixelRectangle) {
        if changes.last == area { return }
        if changes.count == 32 { changes = [changes.reduce(area) { $0.union($1) }] } else { changes.append(area) }
    }

    func look(at window: xcb_window_t?) {
        guard let window else { return }
        frames[window]?.needsLook = true
        needsLook = true
    }

    private func arrange() {
        composition.layers = stack.windows.compactMap { window in
            guard let frame = frames[window], frame.isMapped, !frame.isInputOnly else { return nil }
            return ScreenCompositor.Layer(
                window: window, area: frame.area, border: frame.border, visual: frame.visual, isBlank: frame.isBlank)
        }
    }

    /// Where hidden windows are.
    private var hiddenPlaces: [PixelRectangle] {
        frames.values.lazy.filter { $0.isHidden && $0.isMapped }.map(\.area)
    }

    /// Where hidden windows are, in the coordinates of the window with this frame.
    func secret(in frame: Frame) -> [PixelRectangle] {
        hiddenPlaces.map { $0.moved(x: -frame.origin.x, y: -frame.origin.y) }
    }

    static let unknown = Frame(area: .nothing, isMapped: false)
    /// More than any screen has.
    static let everything = PixelRectangle(x: -32_768, y: -32_768, width: 65_536, height: 65_536)
}
