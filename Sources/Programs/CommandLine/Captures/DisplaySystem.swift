import Glibc
public import MediaTypes

/// The display system that is captured, for `--source`.
public enum DisplaySystem: String, CaseIterable, Sendable {
    /// An X server.
    case x11
    /// The desktop of a Wayland session, which shares its screen through its portal.
    case wayland

    /// Wayland if this process belongs to a Wayland session with a user bus, on which its portal is; otherwise X11.
    static var ofSession: DisplaySystem { isWaylandSession && hasUserBus ? .wayland : .x11 }

    /// Whether this process belongs to a Wayland session.
    static var isWaylandSession: Bool { variable("WAYLAND_DISPLAY") != nil }

    private static var hasUserBus: Bool {
        if variable("DBUS_SESSION_BUS_ADDRESS") != nil { return true }
        return variable("XDG_RUNTIME_DIR").map { access($0 + "/bus", F_OK) == 0 } ?? false
    }

    /// The value of a variable; nil if it is empty.
    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension CaptureOptions {
    /// What `--monitor` and `--window` name on a Wayland desktop, whose dialog has the user choose one.
    static let anyName = "any"
    /// What `--monitor` names for a monitor that a Wayland desktop makes for the share.
    static let newName = "new"
    /// The size of a new monitor without `--size`.
    private static let usualSize = PictureSize(width: 1920, height: 1080)

    /// The wanted size of a monitor that the desktop makes for the share; nil if it shares something that is there
    /// already. Frames of this size aren't scaled.
    public var newMonitorSize: PictureSize? {
        guard system == .wayland, target == .monitor(Self.newName) else { return nil }
        if case .exactly(let size) = scale { return size }
        return Self.usualSize
    }

    /// Refuses what an X display can't do, and names what can.
    ///
    /// - Throws: ``UsageError`` that names the option.
    static func checkDisplay(_ parsed: ParsedOptions) throws(UsageError) {
        guard parsed.value("monitor") == newName else { return }
        throw UsageError(
            "\(parsed.place(of: "monitor") ?? "--monitor") \(newName): an X display can't get a new monitor, only a "
                + "Wayland desktop can (--source wayland); --list names the monitors that are there")
    }

    /// Refuses options that a Wayland desktop can't do, and names what it can.
    ///
    /// - Throws: ``UsageError`` that names the option.
    static func checkDesktop(_ parsed: ParsedOptions) throws(UsageError) {
        let problems = [
            ("display", "a Wayland desktop has no X display; omit it, or use --source x11"),
            (
                "region",
                "a Wayland desktop shares only whole monitors and windows; its dialog has both, and with --monitor any "
                    + "or --window any only those"
            ),
            ("hide", "a Wayland desktop can't hide windows; share a single window with --window any"),
            ("pick", "a Wayland desktop has its own dialog; --ask opens it even if you have chosen before"),
        ]
        for (option, problem) in problems where parsed.has(option) {
            throw UsageError("\(parsed.place(of: option) ?? "--\(option)"): \(problem)")
        }
        for option in ["monitor", "window"] {
            guard let name = parsed.value(option), name != anyName else { continue }
            let isMonitor = option == "monitor"
            if isMonitor, name == newName { continue }
            throw UsageError(
                "\(parsed.place(of: option) ?? "--\(option)") \(printable(name)): a Wayland desktop has you choose the "
                    + "\(option) in its dialog; write --\(option) \(anyName)"
                    + (isMonitor ? ", or --monitor \(newName) for a new one" : ""))
        }
    }

    /// A warning for an X server in a Wayland session, which has only some of the windows. Otherwise nil.
    public var waylandWarning: String? {
        // A different display, named by the user, is not part of the session.
        guard system == .x11, DisplaySystem.isWaylandSession,
            display == nil || display == getenv("DISPLAY").map({ String(cString: $0) })
        else { return nil }
        return "this is a Wayland session: viewers see only windows of X11 programs, and the rest stays black; "
            + "to share the desktop, use --source wayland without --display"
    }
}
