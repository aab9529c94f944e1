import CXCB

/// The children of the root window in their stacking order, as events report it.
struct WindowStack {
    /// The lowest window first.
    private(set) var windows: [xcb_window_t] = []

    init(_ windows: [xcb_window_t] = []) { self.windows = windows }

    /// Puts `window` on top, if it isn't in the stack (X protocol, CreateWindow and ReparentWindow).
    mutating func add(_ window: xcb_window_t) {
        if !windows.contains(window) { windows.append(window) }
    }

    mutating func remove(_ window: xcb_window_t) { windows.removeAll { $0 == window } }

    /// Puts `window` directly above `sibling`, or lowest if that is 0 (X protocol, ConfigureNotify); returns whether
    /// this changes anything.
    mutating func place(_ window: xcb_window_t, above sibling: xcb_window_t) -> Bool {
        guard let old = windows.firstIndex(of: window) else { return false }
        if old == 0 ? sibling == 0 : windows[old - 1] == sibling { return false }
        windows.remove(at: old)
        let below = windows.firstIndex(of: sibling)
        windows.insert(window, at: below.map { $0 + 1 } ?? (sibling == 0 ? 0 : windows.count))
        return true
    }

    /// Puts `window` on top or lowest (X protocol, CirculateNotify).
    mutating func circulate(_ window: xcb_window_t, isTop: Bool) {
        guard windows.contains(window) else { return }
        remove(window)
        windows.insert(window, at: isTop ? windows.count : 0)
    }
}
