import CLinux
import CaptureAgent
import CommandLine
import Glibc
import LinkTransport
import RecordingFiles
import X11Capture

/// The program that `screenrelay share` and `screenrelay capture` start: one thread, little memory, and it may die.
@main
enum CaptureProgram {
    static func main() {
        // Once it has freed a large buffer, glibc takes the next ones from its heap, which changes of the screen's size leave
        // full of holes: 15 MB after a few hundred. With a threshold of ours, what is freed goes back to the system.
        mallopt(M_MMAP_THRESHOLD, 128 * 1024)
        // x264 asks for huge pages, in which 8 MB of what it never touches are resident: 1080p took 49 MB with them and takes 42
        // without. In processor time they were worth a few percent at full motion, and cost as much in a scroll.
        shim_disable_huge_pages()
        exit(
            CaptureCommand.command.run(CaptureCommand.program) { options in
                try Confinement.enter(options)
                if options.wantsList { return Listing.show(display: try CaptureOptions(options).display) }
                let verbosity: CaptureVerbosity = try options.required("log", as: .choice)
                let configuration = try CaptureCommand.configuration(options)
                return capture(configuration, log: Log(program: CaptureCommand.program, level: verbosity.level))
            })
    }

    private static func capture(_ configuration: CaptureConfiguration, log: Log) -> ExitCode {
        do throws(CaptureError) {
            let signals = try ProcessSignals()
            let agentSignals = AgentSignals(
                stopDescriptor: signals.descriptor, pauseDescriptor: signals.pauseDescriptor,
                takePauseToggle: signals.takePauseToggle)
            let agent = try CaptureAgent(configuration, signals: agentSignals) { level, line in
                switch level {
                case .warning: log.warning(line)
                case .info: log.info(line)
                case .debug: log.debug(line)
                }
            }
            let end = try agent.run()
            log.info(end == .stopped ? "stopped" : "the host is gone")
            return .success
        } catch {
            StandardStreams.printError(line(for: error, configuration), program: CaptureCommand.program)
            if case .recording(let problem) = error { return ExitCode(problem.kind) }
            return error.isWindowGone ? .windowGone : ExitCode(error.kind)
        }
    }

    /// The error with the option in front that it came of.
    private static func line(for error: CaptureError, _ configuration: CaptureConfiguration) -> String {
        switch error {
        case .screen where configuration.display == nil && getenv("DISPLAY") == nil: "--display: \(error)"
        case .screen(.windowClosed), .screen(.noSuchWindow), .screen(.windowWithoutPixels): "--window: \(error)"
        case .screen(.noSuchMonitor), .screen(.monitorGone): "--monitor: \(error)"
        case .screen(.regionOutside), .screen(.regionGone): "--region: \(error)"
        case .screen: "--display \(configuration.display ?? "(from DISPLAY)"): \(error)"
        case .link: "--link \(configuration.link): \(error)"
        case .recording: "--record: \(error)"
        case .encoder, .message, .system: error.description
        }
    }
}
