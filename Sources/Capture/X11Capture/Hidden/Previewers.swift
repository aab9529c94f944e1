import CXCB

/// Tells which windows may show small copies of other windows: the pop-ups of a compositing manager that is also the
/// window manager, such as the previews of Alt+Tab, and the pop-ups of panels, such as thumbnails of a task bar.
///
/// Does no I/O.
struct Previewers {
    /// The client connection of the compositing manager; 0 if there is none.
    var compositor: UInt32 = 0
    private var frames: [xcb_window_t: Facts] = [:]

    private struct Facts {
        var owner: UInt32
        /// The client connections that have windows inside it.
        var inside: Set<UInt32>
        var isPanel: Bool
        var isPopUp: Bool
        var isMenu: Bool
    }

    /// Records a child of the root window, together with the windows inside it.
    mutating func note(_ frame: FoundWindow, inside: [FoundWindow]) {
        frames[frame.identifier] = Facts(
            owner: frame.program.connection, inside: Set(inside.map(\.program.connection)),
            isPanel: frame.kind == .panel || inside.contains { $0.kind == .panel },
            isPopUp: frame.isOverrideRedirect, isMenu: frame.kind == .menu)
    }

    mutating func forget(_ frame: xcb_window_t) { frames[frame] = nil }

    /// The children of the root window that may show copies of others.
    var previews: Set<xcb_window_t> {
        var panels: Set<UInt32> = []
        for facts in frames.values where facts.isPanel { panels.formUnion(facts.inside.union([facts.owner])) }
        panels.remove(compositor)
        return Set(
            frames.lazy.filter { _, facts in
                // A frame around another program's window is no pop-up of the window manager's.
                if facts.owner == compositor, compositor != 0 { return facts.inside.isSubset(of: [compositor]) }
                return panels.contains(facts.owner) && facts.isPopUp && !facts.isPanel && !facts.isMenu
            }.map(\.key))
    }
}
