import CXCB
import Glibc
import MediaTypes

/// A window as it was when it was looked at.
struct FoundWindow {
    var identifier: xcb_window_t
    /// The child of the root window that it lies in: itself, or its window manager's frame.
    var frame: xcb_window_t
    /// As the window has it, to be compared and not to be printed.
    var title = ""
    var className = ""
    /// Without its border, in the root window's coordinates.
    var area = PixelRectangle(x: 0, y: 0, width: 0, height: 0)
    var isViewable = false
    /// A program's main window, as its window manager has noted (ICCCM 4.1.3.1).
    var hasState = false
    var isInputOnly = false
    var isOverrideRedirect = false
    var border = 0
    /// WM_TRANSIENT_FOR (ICCCM 4.1.2.6): the window that it is a dialog or a menu of; 0: none.
    var transientFor: xcb_window_t = 0
    var program = WindowProgram()
    var depth: UInt8 = 0
    var visual: xcb_visualid_t = 0
}

/// Looks through the window tree as far down as window managers put their frames.
struct WindowSearch {
    private let connection: X11Connection
    private let atoms: WindowAtoms

    /// A program's window lies so many windows below the root at most: itself, in a frame, in a frame within a frame.
    private static let levels = 3
    private static let mostWindows = 16_384

    init(_ connection: X11Connection) throws(X11CaptureError) {
        self.connection = connection
        atoms = try WindowAtoms(connection)
    }

    /// The windows that a person would call so, the lowest first.
    ///
    /// Those are what a window manager has marked as a program's, and what shows on the root without one. Menus and the like
    /// (override-redirect) and windows of one pixel, which programs talk to each other with, are left out.
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

    /// The one window that `selector` means.
    func window(_ selector: WindowSelector) throws(X11CaptureError) -> FoundWindow {
        switch selector {
        case .identifier(let identifier):
            guard identifier != connection.root, let found = try describe([identifier], frame: identifier).first else {
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
            // A dialog often has the class of its main window, which is the one that is meant.
            let identifiers = Set(equals.map(\.window.identifier))
            let mains = equals.filter { !identifiers.contains($0.window.transientFor) }
            if !mains.isEmpty { equals = mains }
            if equals.count > 1 {
                throw .severalWindows(
                    PrintableText.harmless(text),
                    matches: equals.prefix(5).map {
                        "\(WindowSelector.identifier($0.window.identifier)) '\(PrintableText.harmless($0.window.title))'"
                    })
            }
            return equals[0].window
        }
    }

    /// Whether `window` or something it holds is what `selector` means.
    static func matches(_ window: FoundWindow, _ selector: WindowSelector) -> Bool {
        switch selector {
        case .identifier(let identifier): window.identifier == identifier || window.frame == identifier
        case .title(let text): match(window, text) != nil
        }
    }

    /// 2 where the title is `text`, 1 where it or the class has it within, nil where neither.
    private static func match(_ window: FoundWindow, _ text: String) -> Int? {
        if text.isEmpty { return nil }
        let title = PrintableText.plain(window.title.unicodeScalars)
        let wanted = PrintableText.plain(text.unicodeScalars)
        if title == wanted { return 2 }
        return has(title, wanted) || has(PrintableText.plain(window.className.unicodeScalars), wanted) ? 1 : nil
    }

    /// Whether `wanted` is a part of `text`, in capitals or not: the same characters, however they are put together, or the same
    /// scalars, whatever joins them.
    private static func has(_ text: String, _ wanted: String) -> Bool {
        let (text, wanted) = (text.lowercased(), wanted.lowercased())
        return text.contains(wanted) || text.unicodeScalars.contains(wanted.unicodeScalars)
    }

    /// `tops`, children of the root window, and what lies in them, level by level, or all that lies in the root where `tops` is the
    /// root alone; a level costs two round trips.
    ///
    /// `watching`, when not zero, are the kinds of events that are asked for before each window is looked at.
    func windows(below tops: [xcb_window_t], watching: UInt32 = 0) throws(X11CaptureError) -> [FoundWindow] {
        var result: [FoundWindow] = []
        var level: [(window: xcb_window_t, frame: xcb_window_t)] = []
        if tops == [connection.root] {
            level = try children(of: [(connection.root, 0)]).map { ($0.window, $0.window) }
        } else {
            level = tops.prefix(Self.mostWindows).map { ($0, $0) }
        }
        for depth in 1...Self.levels where !level.isEmpty && result.count < Self.mostWindows {
            if watching != 0 { for (window, _) in level { connection.select(watching, on: window) } }
            result += try describe(level)
            if depth < Self.levels { level = try children(of: level) }
        }
        return result
    }

    /// The child of the root window that `window` lies in; nil where the window is gone.
    func frame(of window: xcb_window_t) throws(X11CaptureError) -> xcb_window_t? {
        var current = window
        // A tree deeper than that is no program's.
        for _ in 0..<32 {
            let cookie = xcb_query_tree(connection.handle, current)
            guard let tree = xcb_query_tree_reply(connection.handle, cookie, nil) else {
                try connection.check()
                return nil
            }
            defer { free(tree) }
            if tree.pointee.parent == connection.root || tree.pointee.parent == 0 { return current }
            current = tree.pointee.parent
        }
        return current
    }

    /// The window that `window` is transient for; 0 where there is none.
    func transientFor(_ window: xcb_window_t) throws(X11CaptureError) -> xcb_window_t {
        let found = number(property(window, xcb_atom_t(XCB_ATOM_WM_TRANSIENT_FOR.rawValue), length: 1))
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
            for window in windows where result.count < Self.mostWindows { result.append((window, parent.frame)) }
        }
        try connection.check()
        return result
    }

    private func describe(_ windows: [xcb_window_t], frame: xcb_window_t) throws(X11CaptureError) -> [FoundWindow] {
        try describe(windows.map { ($0, frame) })
    }

    /// What is still there of `windows`: all is asked before the first answer is waited for.
    private func describe(
        _ windows: [(window: xcb_window_t, frame: xcb_window_t)]
    ) throws(X11CaptureError) -> [FoundWindow] {
        let cookies = windows.map { window, _ in
            (
                attributes: xcb_get_window_attributes(connection.handle, window),
                geometry: xcb_get_geometry(connection.handle, window),
                place: xcb_translate_coordinates(connection.handle, window, connection.root, 0, 0),
                state: property(window, atoms.state, length: 1), modernTitle: property(window, atoms.modernName),
                title: property(window, xcb_atom_t(XCB_ATOM_WM_NAME.rawValue)),
                className: property(window, xcb_atom_t(XCB_ATOM_WM_CLASS.rawValue)),
                transientFor: property(window, xcb_atom_t(XCB_ATOM_WM_TRANSIENT_FOR.rawValue), length: 1),
                leader: property(window, atoms.leader, length: 1), process: property(window, atoms.process, length: 1),
                machine: property(window, xcb_atom_t(XCB_ATOM_WM_CLIENT_MACHINE.rawValue))
            )
        }
        var result: [FoundWindow] = []
        for (window, cookie) in zip(windows, cookies) {
            let attributes = xcb_get_window_attributes_reply(connection.handle, cookie.attributes, nil)
            defer { free(attributes) }
            let geometry = xcb_get_geometry_reply(connection.handle, cookie.geometry, nil)
            defer { free(geometry) }
            let place = xcb_translate_coordinates_reply(connection.handle, cookie.place, nil)
            defer { free(place) }
            let state = number(cookie.state)
            let modernTitle = text(cookie.modernTitle, restOf: atoms.modernName, window.window)
            let title = text(cookie.title, restOf: xcb_atom_t(XCB_ATOM_WM_NAME.rawValue), window.window)
            let className = text(
                cookie.className, restOf: xcb_atom_t(XCB_ATOM_WM_CLASS.rawValue), window.window)
            let transientFor = number(cookie.transientFor)
            let leader = number(cookie.leader)
            let process = number(cookie.process)
            let machine = text(cookie.machine)
            guard let attributes, let geometry, let place else { continue }
            var found = FoundWindow(identifier: window.window, frame: window.frame)
            found.title = modernTitle ?? title ?? ""
            // Two strings: the instance's name, and the class (ICCCM 4.1.2.5).
            let names = (className ?? "").split(separator: "\0", omittingEmptySubsequences: false)
            found.className = String(names.count > 1 ? names[1] : names.first ?? "")
            found.area = PixelRectangle(
                x: Int(place.pointee.dst_x), y: Int(place.pointee.dst_y), width: Int(geometry.pointee.width),
                height: Int(geometry.pointee.height))
            found.depth = geometry.pointee.depth
            found.visual = attributes.pointee.visual
            found.border = Int(geometry.pointee.border_width)
            found.isViewable = attributes.pointee.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue)
            // 0 is Withdrawn: the window isn't shown, and neither is an icon of it.
            found.hasState = (state ?? 0) != 0
            found.isInputOnly = attributes.pointee._class == UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue)
            found.isOverrideRedirect = attributes.pointee.override_redirect != 0
            found.transientFor = transientFor ?? 0
            found.program.connection = connection.clientPart(of: window.window)
            found.program.leader = leader == connection.root ? 0 : leader ?? 0
            found.program.process = process ?? 0
            found.program.machine = machine ?? ""
            result.append(found)
        }
        try connection.check()
        return result
    }

    /// The first 1 KiB from `offset`, or as much as `length` says, both in units of 4 bytes.
    private func property(
        _ window: xcb_window_t, _ atom: xcb_atom_t, from offset: UInt32 = 0, length: UInt32 = 256
    ) -> xcb_get_property_cookie_t {
        xcb_get_property(connection.handle, 0, window, atom, 0 /* any type */, offset, length)
    }

    /// The property's bytes as text, of `atom` of `window` also what is behind the first 1 KiB; nil where the window doesn't
    /// have it.
    private func text(
        _ cookie: xcb_get_property_cookie_t, restOf atom: xcb_atom_t? = nil, _ window: xcb_window_t = 0
    ) -> String? {
        guard let reply = xcb_get_property_reply(connection.handle, cookie, nil) else { return nil }
        defer { free(reply) }
        if reply.pointee.type == 0 { return nil }
        var bytes = Self.bytes(reply)
        if let atom, reply.pointee.bytes_after > 0 {
            // Seldom: a page's whole address, or somebody who wants his window to be missed.
            let rest = property(window, atom, from: UInt32(clamping: bytes.count / 4), length: Self.longestRest)
            if let more = xcb_get_property_reply(connection.handle, rest, nil) {
                bytes += Self.bytes(more)
                free(more)
            }
        }
        return reply.pointee.type == atoms.utf8 ? String(decoding: bytes, as: UTF8.self) : PrintableText.latin1(bytes)
    }

    /// The first number of a property of 32-bit numbers; nil where the window doesn't have it.
    private func number(_ cookie: xcb_get_property_cookie_t) -> UInt32? {
        guard let reply = xcb_get_property_reply(connection.handle, cookie, nil) else { return nil }
        defer { free(reply) }
        guard reply.pointee.format == 32, xcb_get_property_value_length(reply) >= 4 else { return nil }
        return UnsafeRawPointer(xcb_get_property_value(reply)).loadUnaligned(as: UInt32.self)
    }

    /// In units of 4 bytes: with it a title is looked through up to 64 KiB.
    private static let longestRest: UInt32 = (64 - 1) << 8

    private static func bytes(_ reply: UnsafeMutablePointer<xcb_get_property_reply_t>) -> [UInt8] {
        Array(
            UnsafeRawBufferPointer(
                start: xcb_get_property_value(reply), count: max(0, Int(xcb_get_property_value_length(reply)))))
    }
}

/// The names of properties that windows say about themselves with.
struct WindowAtoms {
    let state: xcb_atom_t
    let modernName: xcb_atom_t
    let utf8: xcb_atom_t
    let leader: xcb_atom_t
    let process: xcb_atom_t

    init(_ connection: X11Connection) throws(X11CaptureError) {
        let atoms = try connection.atoms([
            "WM_STATE", "_NET_WM_NAME", "UTF8_STRING", "WM_CLIENT_LEADER", "_NET_WM_PID",
        ])
        (state, modernName, utf8, leader, process) = (atoms[0], atoms[1], atoms[2], atoms[3], atoms[4])
    }
}
