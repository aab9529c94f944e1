import CXCB
import Glibc
import MediaTypes

/// A window's state at the time it was queried.
struct FoundWindow {
    var identifier: xcb_window_t
    /// The child of the root window that it lies in: the window itself, or its window manager's frame.
    var frame: xcb_window_t
    /// The title as the window has it: for comparison, not for printing.
    var title = ""
    var className = ""
    /// The area without its border, in the root window's coordinates.
    var area = PixelRectangle.nothing
    var isViewable = false
    /// Whether the window manager has marked it as a program's main window (ICCCM 4.1.3.1).
    var hasState = false
    var isInputOnly = false
    var isOverrideRedirect = false
    var border = 0
    /// The window that it is a dialog or a menu of (WM_TRANSIENT_FOR, ICCCM 4.1.2.6); 0 if there is none.
    var transientFor: xcb_window_t = 0
    var program = WindowProgram()
    /// What it is for, as far as that matters here (_NET_WM_WINDOW_TYPE of EWMH).
    var kind = Kind.other
    var depth: UInt8 = 0
    var visual: xcb_visualid_t = 0

    enum Kind {
        case panel, menu, other
    }
}

/// Searches the window tree, as deep as window managers place programs' windows.
struct WindowSearch {
    private let connection: X11Connection
    private let properties: WindowPropertyReader

    /// The most levels that a program's window lies below the root: by itself, in a frame, or in a frame within a
    /// frame.
    private static let levels = 3
    private static let maxWindows = 16_384

    init(_ connection: X11Connection) throws(X11CaptureError) {
        self.connection = connection
        properties = try WindowPropertyReader(connection)
    }

    /// The windows that a person would call windows, the lowest first.
    ///
    /// These are the windows that a window manager has marked as a program's, and visible children of the root window
    /// without such a mark. Menus and the like (override-redirect) are left out, and so are windows of one pixel, which
    /// programs use to communicate.
    func programWindows() throws(X11CaptureError) -> [FoundWindow] {
        let all = try windows(below: [connection.root])
        let framesOfPrograms = Set(all.lazy.filter(\.hasState).map(\.frame))
        return all.filter { window in
            if window.isOverrideRedirect || window.isInputOnly || window.area.width * window.area.height <= 1 {
                return false
            }
            let isAlone = window.frame == window.identifier && !framesOfPrograms.contains(window.frame)
            return window.hasState || isAlone && window.isViewable
        }
    }

    /// The one window that `selector` names.
    func window(_ selector: WindowSelector) throws(X11CaptureError) -> FoundWindow {
        switch selector {
        case .identifier(let identifier):
            guard identifier != connection.root, let found = try describe([(identifier, identifier)]).first else {
                throw .noSuchWindow(selector.description)
            }
            return found
        case .title(let text):
            let matches = try programWindows().compactMap { window in
                Self.match(window, text).map { (window: window, rank: $0) }
            }
            guard let best = matches.map(\.rank).max() else {
                throw .noSuchWindow(PrintableText.harmless(text))
            }
            var equals = matches.filter { $0.rank == best }
            // A dialog often has the class of its main window; the main window is meant.
            let identifiers = Set(equals.map(\.window.identifier))
            let mains = equals.filter { !identifiers.contains($0.window.transientFor) }
            if !mains.isEmpty { equals = mains }
            if equals.count > 1 {
                throw .severalWindows(PrintableText.harmless(text), matches: equals.prefix(5).map(\.window.name))
            }
            return equals[0].window
        }
    }

    /// Whether `selector` names `window` or the frame that it lies in.
    static func matches(_ window: FoundWindow, _ selector: WindowSelector) -> Bool {
        switch selector {
        case .identifier(let identifier): window.identifier == identifier || window.frame == identifier
        case .title(let text): match(window, text) != nil
        }
    }

    /// Returns 2 if the title is `text`, 1 if the title or the class contains it, and nil otherwise.
    private static func match(_ window: FoundWindow, _ text: String) -> Int? {
        if text.isEmpty { return nil }
        let title = PrintableText.plain(window.title.unicodeScalars)
        let wanted = PrintableText.plain(text.unicodeScalars)
        if title == wanted { return 2 }
        return has(title, wanted) || has(PrintableText.plain(window.className.unicodeScalars), wanted) ? 1 : nil
    }

    /// Whether `text` contains `wanted`, ignoring case. Either the characters match, however they are composed, or the
    /// scalars match, whatever they are combined with.
    private static func has(_ text: String, _ wanted: String) -> Bool {
        let (text, wanted) = (text.lowercased(), wanted.lowercased())
        return text.firstPosition(of: wanted) != nil
            || text.unicodeScalars.firstPosition(of: wanted.unicodeScalars) != nil
    }

    /// Returns `tops`, which are children of the root window, and the windows inside them, level by level. If `tops` is
    /// just the root window, returns all windows in it. A level costs two round trips.
    ///
    /// If `watching` isn't zero, these kinds of events are selected on each window before it is queried.
    func windows(below tops: [xcb_window_t], watching: UInt32 = 0) throws(X11CaptureError) -> [FoundWindow] {
        var result: [FoundWindow] = []
        var level: [(window: xcb_window_t, frame: xcb_window_t)] = []
        if tops == [connection.root] {
            level = try children(of: [(connection.root, 0)]).map { ($0.window, $0.window) }
        } else {
            level = tops.prefix(Self.maxWindows).map { ($0, $0) }
        }
        for depth in 1...Self.levels where !level.isEmpty && result.count < Self.maxWindows {
            if watching != 0 { for (window, _) in level { connection.select(watching, on: window) } }
            result += try describe(level)
            if depth < Self.levels { level = try children(of: level) }
        }
        return result
    }

    /// The child of the root window that `window` lies in; nil if the window is gone.
    func frame(of window: xcb_window_t) throws(X11CaptureError) -> xcb_window_t? { try path(of: window)?.last }

    /// The window, the one that it lies in, and so on to the child of the root window; nil if one of them is gone.
    func path(of window: xcb_window_t) throws(X11CaptureError) -> [xcb_window_t]? {
        var path = [window]
        // No real program's tree is deeper than this.
        while path.count <= 32 {
            let cookie = xcb_query_tree(connection.handle, path[path.count - 1])
            guard let tree = xcb_query_tree_reply(connection.handle, cookie, nil) else {
                try connection.check()
                return nil
            }
            defer { free(tree) }
            if tree.pointee.parent == connection.root || tree.pointee.parent == 0 { break }
            path.append(tree.pointee.parent)
        }
        return path
    }

    /// The window that `window` is transient for; 0 if there is none.
    func transientFor(_ window: xcb_window_t) throws(X11CaptureError) -> xcb_window_t {
        let found = connection.number(properties.sendRequest(window, properties.transientFor, length: 1))
        try connection.check()
        return found ?? 0
    }

    private func children(
        of parents: [(window: xcb_window_t, frame: xcb_window_t)]
    ) throws(X11CaptureError) -> [(window: xcb_window_t, frame: xcb_window_t)] {
        let cookies = parents.map { xcb_query_tree(connection.handle, $0.window) }
        var result: [(window: xcb_window_t, frame: xcb_window_t)] = []
        for (parent, cookie) in zip(parents, cookies) {
            guard let tree = xcb_query_tree_reply(connection.handle, cookie, nil) else { continue }
            defer { free(tree) }
            let windows = UnsafeBufferPointer(
                start: xcb_query_tree_children(tree), count: max(0, Int(xcb_query_tree_children_length(tree))))
            for window in windows where result.count < Self.maxWindows { result.append((window, parent.frame)) }
        }
        try connection.check()
        return result
    }

    /// Describes those of `windows` that still exist. All requests are sent before the first reply is waited for.
    private func describe(
        _ windows: [(window: xcb_window_t, frame: xcb_window_t)]
    ) throws(X11CaptureError) -> [FoundWindow] {
        let questions = windows.map { Questions($0.window, connection, properties) }
        let result = zip(windows, questions).compactMap { place, questions in
            questions.answer(place.window, in: place.frame, connection, properties)
        }
        try connection.check()
        return result
    }
}

/// The requests for what is to be known about a window.
private struct Questions {
    private let attributes: xcb_get_window_attributes_cookie_t
    private let geometry: xcb_get_geometry_cookie_t
    private let place: xcb_translate_coordinates_cookie_t
    private let state: xcb_get_property_cookie_t
    private let modernTitle: xcb_get_property_cookie_t
    private let title: xcb_get_property_cookie_t
    private let className: xcb_get_property_cookie_t
    private let transientFor: xcb_get_property_cookie_t
    private let leader: xcb_get_property_cookie_t
    private let process: xcb_get_property_cookie_t
    private let machine: xcb_get_property_cookie_t
    private let kind: xcb_get_property_cookie_t

    /// Sends the requests about `window`.
    init(_ window: xcb_window_t, _ connection: X11Connection, _ properties: WindowPropertyReader) {
        attributes = xcb_get_window_attributes(connection.handle, window)
        geometry = xcb_get_geometry(connection.handle, window)
        place = xcb_translate_coordinates(connection.handle, window, connection.root, 0, 0)
        state = properties.sendRequest(window, properties.state, length: 1)
        modernTitle = properties.sendRequest(window, properties.modernTitle)
        title = properties.sendRequest(window, properties.title)
        className = properties.sendRequest(window, properties.className)
        transientFor = properties.sendRequest(window, properties.transientFor, length: 1)
        leader = properties.sendRequest(window, properties.leader, length: 1)
        process = properties.sendRequest(window, properties.process, length: 1)
        machine = properties.sendRequest(window, properties.machine)
        kind = properties.sendRequest(window, properties.kind, length: 1)
    }

    /// Receives all replies about `window`, which lies in `frame`; nil if it no longer exists.
    func answer(
        _ window: xcb_window_t, in frame: xcb_window_t, _ connection: X11Connection, _ properties: WindowPropertyReader
    ) -> FoundWindow? {
        var found = FoundWindow(identifier: window, frame: frame)
        let exists = receiveGeometry(into: &found, connection)
        // 0 is Withdrawn: neither the window nor an icon of it is shown.
        found.hasState = (connection.number(state) ?? 0) != 0
        let modernTitle = properties.text(modernTitle, restOf: properties.modernTitle, window)
        let title = properties.text(title, restOf: properties.title, window)
        found.title = modernTitle ?? title ?? ""
        let className = properties.text(className, restOf: properties.className, window)
        // The property has two strings: the instance's name and the class (ICCCM 4.1.2.5).
        let names = (className ?? "").split(separator: "\0", omittingEmptySubsequences: false)
        found.className = String(names.count > 1 ? names[1] : names.first ?? "")
        found.transientFor = connection.number(transientFor) ?? 0
        found.program.connection = connection.clientPart(of: window)
        let leader = connection.number(leader)
        found.program.leader = leader == connection.root ? 0 : leader ?? 0
        found.program.process = connection.number(process) ?? 0
        found.program.machine = properties.text(machine) ?? ""
        found.kind = properties.kind(kind)
        return exists ? found : nil
    }

    /// Returns false if the window no longer exists.
    private func receiveGeometry(into found: inout FoundWindow, _ connection: X11Connection) -> Bool {
        let attributes = xcb_get_window_attributes_reply(connection.handle, attributes, nil)
        defer { free(attributes) }
        let geometry = xcb_get_geometry_reply(connection.handle, geometry, nil)
        defer { free(geometry) }
        let place = xcb_translate_coordinates_reply(connection.handle, place, nil)
        defer { free(place) }
        guard let attributes, let geometry, let place else { return false }
        found.area = PixelRectangle(
            x: Int(place.pointee.dst_x), y: Int(place.pointee.dst_y), width: Int(geometry.pointee.width),
            height: Int(geometry.pointee.height))
        found.depth = geometry.pointee.depth
        found.visual = attributes.pointee.visual
        found.border = Int(geometry.pointee.border_width)
        found.isViewable = attributes.pointee.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue)
        found.isInputOnly = attributes.pointee._class == UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue)
        found.isOverrideRedirect = attributes.pointee.override_redirect != 0
        return true
    }
}
