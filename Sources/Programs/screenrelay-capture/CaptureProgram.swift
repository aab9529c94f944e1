import CLinux
import CaptureEngine
import CommandLine
import Glibc
import HostConnection
import LinkTransport
import LoginSession
import RecordingFiles
import Threading
import WaylandCapture
import X11Capture

/// The program that `screenrelay share` and `screenrelay capture` start. It has one thread, uses little memory, and may
/// crash without harming the host.
@main
enum CaptureProgram {
    static func main() {
        // Once it has freed a large buffer, glibc takes the next ones from its heap, and changes of the screen's size
        // leave that fragmented: 15 MB after a few hundred changes. With a fixed threshold, freed buffers go back to
        // the system.
        mallopt(M_MMAP_THRESHOLD, 128 * 1024)
        // x264 asks for huge pages, which keep 8 MB resident that it never touches: 1080p took 49 MB with them and
        // takes 42 MB without. Huge pages saved a few per cent of CPU time at full motion, and cost as much while
        // scrolling.
        shim_disable_huge_pages()
        exit(CaptureCommand.command.run(CaptureCommand.program, work))
    }

    /// Captures, or prints what the options ask for. It isn't a closure in `main`, which belongs to the main actor:
    /// closures there check where they run, and the library for that is 0.7 MB of a static program.
    private static func work(_ options: ParsedOptions) throws -> ExitCode {
        try Confinement.enter(options)
        let verbosity: CaptureVerbosity = try options.required("log", as: .choice)
        var wanted = try CaptureOptions(options)
        // This precedes the log, whose descriptors could have the number of a link that wasn't inherited.
        let configuration = try options.wantsList ? nil : CaptureCommand.configuration(options)
        let isDesktop = wanted.system == .wayland
        if options.has("check") { return isDesktop ? DesktopCast.check(wanted) : DisplayReport.show(wanted) }
        if options.has("pick-only") { return PickReport.show(wanted) }
        let log = EventLog.standardError(program: CaptureCommand.program, level: verbosity.level)
        let sandbox = configuration.flatMap { options.sandbox(for: $0.link) }
        if sandbox != nil { LineWriter.standardError.hold() }
        // Under share the variable for it isn't there: share has warned already.
        if let warning = wanted.waylandWarning { log.warning(warning) }
        guard let configuration else { return isDesktop ? DesktopCast.list() : Listing.show(display: wanted.display) }
        wanted.choice = wanted.choice ?? "\(configuration.link)"
        if wanted.picks {
            switch PickReport.pick(wanted) {
            case .failure(let ended): return ended.code
            case .success(let choice):
                wanted.target = choice.target
                log.info("sharing \(choice.target.kindName) '\(choice.name)'")
            }
        }
        return capture(wanted, configuration, sandbox, isAgain: options.has("again"), log: log)
    }

    private static func capture(
        _ options: CaptureOptions, _ configuration: CaptureConfiguration, _ sandbox: Sandbox?, isAgain: Bool,
        log: EventLog
    ) -> ExitCode {
        var isOpen = false
        do throws(CaptureError) {
            guard let signals = ProcessSignals() else { throw .system(call: "eventfd", code: errno) }
            let agentSignals = AgentSignals(
                stopDescriptor: signals.descriptor, pauseDescriptor: signals.pauseDescriptor,
                takePauseToggle: signals.takePauseToggle)
            var desktop: PortalSession?
            if options.system == .wayland {
                desktop = try DesktopCast.open(options, orUntil: signals.descriptor, log: log)
                // It was told to stop while the user was asked.
                if desktop == nil { return .success }
            }
            let agent = try CaptureAgent(
                configuration, signals: agentSignals, session: session(options), log: log,
                confine: { sandbox?.enter(log: log) }
            ) { () throws(CaptureError) in
                let source: any ScreenSource
                if desktop != nil {
                    source = try DesktopCast.screen(
                        &desktop, options, framesPerSecond: configuration.framesPerSecond, orUntil: signals.descriptor,
                        log: log)
                } else {
                    source = try screen(options, log)
                }
                isOpen = true
                return source
            }
            let end = try agent.run()
            log.info(end == .stopped ? "stopped" : "the host is gone")
            return .success
        } catch {
            // For a supervisor that restarts the program repeatedly, the error is printed only once.
            if !isAgain || isOpen || error.kind != .unavailable {
                StandardStreams.printError(line(for: error, options, configuration), program: CaptureCommand.program)
            }
            if case .recording(let problem) = error { return ExitCode(problem.kind) }
            return ExitCode(error.kind)
        }
    }

    /// The login session to watch; nil if its lock doesn't matter.
    static func session(_ options: CaptureOptions) -> LoginSession? {
        guard options.pausesWhenLocked else { return nil }
        if options.system == .wayland { return LoginSession(display: nil) }
        return LoginSession(display: options.display ?? getenv("DISPLAY").map { String(cString: $0) })
    }

    private static func screen(_ options: CaptureOptions, _ log: EventLog) throws(CaptureError) -> any ScreenSource {
        do throws(X11CaptureError) {
            return try ScreenCapture(
                display: options.display, target: options.target, hidden: options.hidden,
                watchesLock: options.pausesWhenLocked, onWarning: { log.warning($0) })
        } catch {
            throw .screen(error)
        }
    }

    /// The error, with the option in front that caused it.
    private static func line(
        for error: CaptureError, _ options: CaptureOptions, _ configuration: CaptureConfiguration
    ) -> String {
        switch error {
        case .screen(let failure) where options.system == .wayland: DesktopCast.line(for: failure)
        case .screen where options.display == nil && getenv("DISPLAY") == nil: "--display: \(error)"
        case .screen(let failure):
            switch failure as? X11CaptureError {
            case .windowClosed, .noSuchWindow, .severalWindows, .windowWithoutPixels: "--window: \(error)"
            case .noSuchMonitor, .monitorGone: "--monitor: \(error)"
            case .regionOutside: "--region: \(error)"
            default: "--display \(options.display ?? "(from DISPLAY)"): \(error)"
            }
        case .link: "--link \(configuration.link): \(error)"
        case .recording: "--record: \(error)"
        case .encoder, .message, .system: error.description
        }
    }
}
