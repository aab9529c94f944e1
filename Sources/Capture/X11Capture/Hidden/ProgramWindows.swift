import CXCB

/// The properties of a window that identify its program.
struct WindowProgram: Equatable {
    /// The client connection that created the window: the part of the window's identifier that all windows of one
    /// connection share (X protocol, "Connection Setup": resource-id-base). 0 for windows of the server itself.
    var connection: UInt32 = 0
    /// WM_CLIENT_LEADER (ICCCM 5.1); 0 if there is none.
    var leader: xcb_window_t = 0
    /// _NET_WM_PID (EWMH); 0 if there is none.
    var process: UInt32 = 0
    /// WM_CLIENT_MACHINE, the machine that the process identifier belongs to; may be empty.
    var machine = ""
    /// The windows that this window is transient for: the window that its WM_TRANSIENT_FOR names (ICCCM 4.1.2.6), the
    /// window that the named one is transient for in turn, and so on. Each is accompanied by the child of the root
    /// window that contains it.
    var mains: [xcb_window_t] = []
}

/// Groups windows by program: if a program has a private window, all its windows are private.
///
/// Does no I/O: the caller reports windows, and `spread()` returns where the private ones are. A private window stays
/// private until it is gone.
struct ProgramWindows {
    private var known: [xcb_window_t: Known] = [:]

    private struct Known {
        /// The child of the root window that contains the window.
        var frame: xcb_window_t
        var program = WindowProgram()
        /// Whether the window manager has marked it as a program's window (WM_STATE).
        var hasState = false
        var isPrivate = false
        var isGone = false
    }

    /// The child of the root window that contains `window`; nil if `window` isn't known.
    func frame(of window: xcb_window_t) -> xcb_window_t? { known[window]?.frame }

    /// Records the properties of a window.
    mutating func note(_ window: FoundWindow, isPrivate: Bool) {
        let wasPrivate = known[window.identifier].map { $0.isPrivate && !$0.isGone } ?? false
        known[window.identifier] = Known(
            frame: window.frame, program: window.program, hasState: window.hasState,
            isPrivate: isPrivate || wasPrivate)
    }

    /// Records a window that was created on the root window; nothing else is known about it.
    mutating func add(_ window: xcb_window_t) { known[window] = Known(frame: window) }

    /// Marks a window, and everything in it, as gone. It is still remembered, because windows that were reported
    /// earlier may yet be found to belong to its program.
    mutating func end(_ window: xcb_window_t) {
        for (identifier, entry) in known where identifier == window || entry.frame == window {
            known[identifier]?.isGone = true
        }
    }

    /// Forgets the windows that are gone, once everything reported before their end has been examined.
    mutating func forgetGone() { known = known.filter { !$0.value.isGone } }

    /// Records that a window, and everything in it, has moved into another child of the root window; nil if that child
    /// isn't known.
    mutating func move(_ window: xcb_window_t, into frame: xcb_window_t?) {
        for (identifier, entry) in known where identifier == window || entry.frame == window {
            if let frame { known[identifier]?.frame = frame } else { known[identifier] = nil }
        }
    }

    /// Marks as private every window whose program has a private window. Returns the children of the root window that
    /// contain private windows.
    mutating func spread() -> Set<xcb_window_t> {
        let managers = windowManagers
        var reached = Reach()
        var isFinished = false
        while !isFinished {
            isFinished = true
            for (identifier, entry) in known where entry.isPrivate {
                reached.insert(identifier, entry.program, managers)
                reached.windows.insert(entry.frame)
            }
            if reached.windows.isEmpty { return [] }
            for (identifier, entry) in known where !entry.isPrivate {
                guard reached.contains(identifier, entry.program) else { continue }
                known[identifier]?.isPrivate = true
                isFinished = false
            }
        }
        return Set(known.values.lazy.filter(\.isPrivate).map(\.frame))
    }

    /// The connections of window managers. They own frames around the windows of many programs, so two windows with
    /// frames of the same window manager need not belong to the same program.
    private var windowManagers: Set<UInt32> {
        var result: Set<UInt32> = []
        for (identifier, entry) in known where entry.frame != identifier {
            guard let frame = known[entry.frame], !frame.hasState else { continue }
            if frame.program.connection != entry.program.connection { result.insert(frame.program.connection) }
        }
        return result
    }

    /// Everything that identifies a window as belonging to a program with a private window.
    private struct Reach {
        var windows: Set<xcb_window_t> = []
        private var connections: Set<UInt32> = []
        private var leaders: Set<xcb_window_t> = []
        private var machines: [UInt32: Set<String>] = [:]

        mutating func insert(_ window: xcb_window_t, _ program: WindowProgram, _ managers: Set<UInt32>) {
            windows.insert(window)
            if program.connection != 0, !managers.contains(program.connection) {
                connections.insert(program.connection)
            }
            if program.leader != 0 { leaders.insert(program.leader) }
            if program.process != 0 { machines[program.process, default: []].insert(program.machine) }
        }

        func contains(_ window: xcb_window_t, _ program: WindowProgram) -> Bool {
            if connections.contains(program.connection) || leaders.contains(program.leader) { return true }
            if leaders.contains(window) || windows.contains(program.leader) { return true }
            if program.mains.contains(where: { windows.contains($0) }) { return true }
            guard let machines = machines[program.process] else { return false }
            // A program that doesn't say which machine it runs on may run on any.
            return program.machine.isEmpty || machines.contains("") || machines.contains(program.machine)
        }
    }
}
