import CaptureEngine
import CommandLine
import Glibc
import LinkTransport
import MediaTypes
import Threading
import WaylandCapture

/// The screen cast of a Wayland desktop: what is asked of its portal, and what is reported of it.
enum DesktopCast {
    /// Has the desktop share what the user has chosen before, or what the user chooses now, however long that takes.
    /// Returns nil if `stop` becomes readable first.
    static func open(
        _ options: CaptureOptions, orUntil stop: Int32, log: EventLog
    ) throws(CaptureError) -> PortalSession? {
        let token = options.asks ? nil : tokens(of: options)?.token(for: sources(of: options))
        return try open(options, token, embedsPointer: false, orUntil: stop, log)
    }

    /// Opens a session with this token, or asks the user, and keeps the session's token.
    private static func open(
        _ options: CaptureOptions, _ token: String?, embedsPointer: Bool, orUntil stop: Int32, _ log: EventLog
    ) throws(CaptureError) -> PortalSession? {
        let sources = sources(of: options)
        do throws(PortalError) {
            try Compositor.check(environment: variable)
            try PipeWireSocket.check(environment: variable)
        } catch {
            throw .screen(error)
        }
        let session: PortalSession
        do throws(PortalError) {
            guard let opened = try granted(sources, token, embedsPointer, orUntil: stop, log) else { return nil }
            session = opened
        } catch {
            throw .screen(error)
        }
        do throws(PortalError) {
            // The last one has been used up.
            try tokens(of: options)?.keep(session.restoreToken, for: sources)
        } catch {
            log.warning("\(error); the desktop will ask again next time")
        }
        return session
    }

    /// Opens a session with a token, and one for which the user is asked if the desktop refuses the first.
    private static func granted(
        _ sources: PortalSourceTypes, _ token: String?, _ embedsPointer: Bool, orUntil stop: Int32, _ log: EventLog
    ) throws(PortalError) -> PortalSession? {
        let first = PortalSession(sources: sources, restoreToken: token, embedsPointer: embedsPointer)
        do throws(PortalError) {
            return try first.open(waitingUntil: stop) ? first : nil
        } catch {
            guard error == .notRestored else { throw error }
            log.warning("\(error), so it is asked again")
        }
        let second = PortalSession(sources: sources, embedsPointer: embedsPointer)
        do throws(PortalError) {
            return try second.open(waitingUntil: stop) ? second : nil
        } catch {
            // While a desktop starts, it refuses whatever it is asked, so that isn't taken for the user's wish.
            throw error == .refused ? .notRestored : error
        }
    }

    /// Takes pictures of what `session` shares. If only the pointer arrives, the desktop is asked again for the same
    /// source, with the pointer in its pictures; `session` is nil from then on.
    static func screen(
        _ session: inout PortalSession?, _ options: CaptureOptions, framesPerSecond: Int, orUntil stop: Int32,
        log: EventLog
    ) throws(CaptureError) -> WaylandScreen {
        let reason: CaptureError
        do throws(CaptureError) {
            guard let first = session else { throw .screen(PortalError.malformed("streams")) }
            return try screen(first, options, framesPerSecond, log)
        } catch {
            guard case .screen(let failure) = error, case .onlyPointer? = failure as? CastError else { throw error }
            reason = error
        }
        log.warning("\(reason), so the desktop is asked to draw the pointer into its pictures")
        // Another capture may have kept its own token in the meantime.
        let token = session?.restoreToken
        // The desktop ends the first screen cast.
        session = nil
        guard let second = try open(options, token, embedsPointer: true, orUntil: stop, log) else { throw reason }
        return try screen(second, options, framesPerSecond, log)
    }

    private static func screen(
        _ session: PortalSession, _ options: CaptureOptions, _ framesPerSecond: Int, _ log: EventLog
    ) throws(CaptureError) -> WaylandScreen {
        try WaylandScreen.open(
            session, framesPerSecond: framesPerSecond, newMonitor: options.newMonitorSize, environment: variable,
            onWarning: { log.warning($0) })
    }

    /// The output of `--check`: lines for `screenrelay doctor`, or one line that says why nothing can be shared.
    ///
    ///     sources NAMES        what the desktop can share of what is wanted: "monitor, window", or "new monitor"
    ///     lacks PipeWire       nothing listens at its socket
    ///     lacks WirePlumber    PipeWire has no session manager, neither this one nor another
    static func check(_ options: CaptureOptions) -> ExitCode {
        report(sources(of: options)) { available in
            var lacks = ""
            do throws(PortalError) {
                if try !SessionManager.isThere(environment: variable) { lacks = "lacks WirePlumber\n" }
            } catch {
                lacks = "lacks PipeWire\n"
            }
            return "sources \(available)\n" + lacks
        }
    }

    /// The output of `--list`: what the desktop's dialog can offer, and the option for each.
    static func list() -> ExitCode {
        report([.monitor, .window, .virtual]) { available in
            var table = TextTable()
            if available.contains(.monitor) { table.add(["--monitor any", "a monitor"]) }
            if available.contains(.window) { table.add(["--window any", "a window"]) }
            if available.contains(.virtual) {
                table.add(["--monitor new", "a new monitor, which exists only while it is shared"])
            }
            return "To choose in the desktop's dialog:\n\(table.text)"
        }
    }

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// A line that says why the desktop can't be shared; without a portal for that, also what can be.
    static func line(for error: any ScreenError) -> String {
        let rest =
            switch error as? PortalError {
            case .noBus?, .noPortal?, .noBackend?, .versionTooLow?:
                "; --source x11 shares only the windows of X11 programs"
            default: ""
            }
        return "--source wayland: \(error)\(rest)"
    }

    private static func tokens(of options: CaptureOptions) -> RestoreTokens? {
        options.choice.flatMap { RestoreTokens(choice: $0, environment: variable) }
    }

    private static func sources(of options: CaptureOptions) -> PortalSourceTypes {
        switch options.target {
        case .monitor: options.newMonitorSize == nil ? .monitor : .virtual
        case .window: .window
        // A new monitor has nothing on it, so it is never offered beside those that have.
        case .screen, .region: [.monitor, .window]
        }
    }

    private static func report(_ wanted: PortalSourceTypes, _ text: (PortalSourceTypes) -> String) -> ExitCode {
        do throws(PortalError) {
            let available = try PortalSession.availableSources(of: wanted)
            return StandardStreams.answer(text(available), program: CaptureCommand.program)
        } catch {
            StandardStreams.printError(line(for: error), program: CaptureCommand.program)
            return ExitCode(error.kind)
        }
    }
}
