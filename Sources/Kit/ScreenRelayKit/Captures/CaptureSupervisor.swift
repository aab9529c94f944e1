import Clocks
public import Ingest
import MediaTypes
import Processes
import Synchronization
public import Threading

/// Keeps a capture process running, of pictures or of sound: starts it with one end of a socket pair, and restarts it
/// when it dies or hangs.
///
/// Has its own thread, which sleeps while the capture runs, except to check its memory every two seconds, or twice a
/// second while that grows.
public final class CaptureSupervisor: Sendable {
    /// A capture that ran at least this long is restarted at once. One that ended sooner is restarted at once the first
    /// time, and then after a pause that doubles each time. The pause is at most half a second for a capture that had
    /// become the track's source, because viewers should barely notice, and else as long as the program's longest.
    private static let goodRun = Interval.seconds(1)
    private static let firstPause = Interval.milliseconds(100)
    private static let maxPauseAfterArrival = Interval.milliseconds(500)
    /// The longest pause while there is no desktop: its session often ends and begins again while viewers wait.
    private static let maxPauseWithoutDesktop = Interval.milliseconds(1500)
    /// The exit codes of a capture that isn't restarted even if it ran: its window is gone (EX_NOINPUT of sysexits), or
    /// the user has declined or stopped it in the desktop (EX_TEMPFAIL).
    private static let finalCodes: [Int32] = [66, 75]
    /// The exit code of a capture whose display, monitor or link isn't there (EX_UNAVAILABLE).
    private static let notThere: Int32 = 69
    /// The number of the descriptor that is the capture's end of the link.
    private static let linkDescriptor: Int32 = 3

    private let wake: EventFD
    private let isStopped = Flag()
    private let thread: Mutex<NamedThread?>

    /// Starts `program` with `--link fd:3`.
    ///
    /// - Parameters:
    ///   - program: the capture's program and arguments.
    ///   - confinement: the resources that the capture may use, and its memory limit.
    ///   - link: gets our end of each socket pair.
    ///   - log: gets a line when the capture can't be started, or is started again.
    ///   - onFailure: called at most once, on the supervisor's thread, with the exit code, if a restart would not help.
    ///     That is so if the first capture ended before it reached the link, with an exit code that would only recur (a
    ///     wrong display or option), if it could not be started (71), if the captured window is gone, or if the user
    ///     has declined or stopped it in the desktop. Never called for a sound capture, which is started again in each
    ///     of these cases.
    /// - Throws: `system` if no descriptor or thread is left. A capture that can't be started is no error here: see
    ///   `onFailure`.
    public init(
        _ program: SupervisedProgram, confinement: CaptureConfinement = CaptureConfinement(), link: LinkServer,
        log: EventLog, onFailure: @escaping @Sendable (Int32) -> Void = { _ in }
    ) throws(HostError) {
        guard let wake = EventFD() else { throw .system("no descriptor left for a supervisor") }
        self.wake = wake
        thread = Mutex(nil)
        let launch = Launch(program.path, program.arguments + ["--link", "fd:\(Self.linkDescriptor)"])
        let started = NamedThread("supervisor") { [weak self] in
            let isStopped = { self?.isStopped.isSet ?? true }
            let isDesktop = confinement.resource == .desktop
            let maxPause = isDesktop ? Self.maxPauseWithoutDesktop : program.maxPause
            // One group for all runs of the capture. It is removed when this thread ends.
            let group = confinement.memory == .unlimited ? nil : MemoryGroup.make(for: confinement.resource)
            var pause = Interval.zero
            // Whether the reason for a failure may pass. A needed program must have run once for that.
            var mayPass = !program.isNeeded
            var lastEnd: ProcessStatus?
            // Whether the last attempt found nothing to capture, which has then been reported.
            var isMissing = false
            var firstArguments = program.firstArguments
            while !isStopped() {
                let began = MonotonicTime.now()
                let capture: SupervisedCapture
                do {
                    var launch = launch
                    launch.arguments += firstArguments + (isMissing ? program.quietArguments : [])
                    capture = try SupervisedCapture(
                        launch, name: program.name, linkDescriptor: Self.linkDescriptor, isNews: !isMissing,
                        confinement: confinement, group: group, link: link, wake: wake, log: log)
                } catch {
                    log.error("\(program.name) can't be started: \(error)")
                    guard mayPass else {
                        onFailure(71)
                        return
                    }
                    // The missing resource (processes, descriptors) may become free again.
                    pause = Self.longer(pause, atMost: maxPause)
                    Self.wait(pause, on: wake, isStopped)
                    continue
                }
                guard let status = capture.waitForEnd(isStopped: isStopped) else { return }
                // A screen that existed may return. A screen that never existed is most likely a mistake.
                if !mayPass, !capture.hasArrived, case .exited(let code) = status, [64, 69, 77].contains(code) {
                    onFailure(code)
                    return
                }
                // A closed window doesn't return, and another window with its name may not be meant for the viewers.
                // What the user has decided in the desktop stands.
                if program.isNeeded, case .exited(let code) = status, Self.finalCodes.contains(code) {
                    onFailure(code)
                    return
                }
                mayPass = true
                // Until then, the user may not have answered.
                if capture.hasArrived { firstArguments = [] }
                isMissing = !capture.hasArrived && status == .exited(Self.notThere)
                if capture.hasArrived {
                    let wasGood = MonotonicTime.now() - began >= Self.goodRun
                    pause = wasGood ? .zero : min(pause, Self.maxPauseAfterArrival)
                }
                let when = pause == .zero ? "at once" : "in \(pause.milliseconds) ms"
                // A missing resource, such as a sound server, is reported once and not at each attempt.
                let isNews = capture.hasArrived || status != lastEnd
                log.write(isNews ? .warning : .debug, "\(program.name) ended (\(status)); restarting it \(when)")
                lastEnd = status
                Self.wait(pause, on: wake, isStopped)
                pause = Self.longer(
                    pause, atMost: capture.hasArrived ? Self.maxPauseAfterArrival : maxPause)
            }
        }
        guard let started else { throw .system("no thread left for a supervisor") }
        thread.withLock { $0 = started }
    }

    deinit {
        isStopped.set()
        wake.signal()
    }

    /// Ends the capture, with SIGTERM and after 1 s with SIGKILL, and then the thread. Idempotent.
    public func stop() {
        isStopped.set()
        wake.signal()
        thread.withLock { $0 }?.join()
    }

    /// The pause after one of `pause`.
    static func longer(_ pause: Interval, atMost longest: Interval) -> Interval {
        pause == .zero ? firstPause : min(pause * 2, longest)
    }

    /// Waits for `pause`. Late events of a capture that has ended don't cut it short.
    private static func wait(_ pause: Interval, on wake: EventFD, _ isStopped: () -> Bool) {
        let end = MonotonicTime.now() + pause
        while !isStopped(), MonotonicTime.now() < end { wake.wait(until: end) }
    }
}
