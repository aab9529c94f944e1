import Clocks
public import Ingest
import MediaTypes
import Processes
import Synchronization
public import Threading

/// Keeps a capture process running: starts it with one end of a socket pair, and restarts it when it dies or hangs.
///
/// Has its own thread, which sleeps while the capture runs, except to check its memory twice a second.
public final class CaptureSupervisor: Sendable {
    /// A capture that ran at least this long is restarted at once. One that ended sooner is restarted at once the first
    /// time, and then after a pause that doubles each time. The pause is at most half a second for a capture that had
    /// become the track's source, because viewers should barely notice, and at most 5 s for one that never did.
    private static let goodRun = Interval.seconds(1)
    private static let firstPause = Interval.milliseconds(100)
    private static let longestPause = (afterArrival: Interval.milliseconds(500), else: Interval.seconds(5))
    /// The exit code of a capture whose window is gone (EX_NOINPUT of sysexits).
    private static let windowGone: Int32 = 66
    /// The number of the descriptor that is the capture's end of the link.
    private static let linkDescriptor: Int32 = 3

    private let wake: WakeUp
    private let isStopped = Flag()
    private let thread: Mutex<NamedThread?>

    /// Starts `program` with `arguments` and `--link fd:3`.
    ///
    /// - Parameters:
    ///   - confinement: what the capture may use, and its memory limit.
    ///   - link: gets our end of each socket pair.
    ///   - onFailure: called at most once, on the supervisor's thread, with the exit code, if a restart would not help.
    ///     That is so if the first capture ended before it reached the link, with an exit code that would only come
    ///     again (a wrong display or option), if it could not be started (71), or if the captured window is gone.
    public init(
        program: String, arguments: [String], confinement: CaptureConfinement = CaptureConfinement(), link: LinkServer,
        log: EventLog, onFailure: @escaping @Sendable (Int32) -> Void
    ) throws(HostError) {
        guard let wake = WakeUp() else { throw .system("no descriptor left for capture's supervisor") }
        self.wake = wake
        thread = Mutex(nil)
        let launch = Launch(program, arguments + ["--link", "fd:\(Self.linkDescriptor)"])
        let started = NamedThread("supervisor") { [weak self] in
            let isStopped = { self?.isStopped.isSet ?? true }
            // One group for all runs of the capture. It is removed when this thread ends.
            let group = confinement.memory == .unlimited ? nil : MemoryGroup.make()
            var pause = Interval.zero
            var hasRun = false
            while !isStopped() {
                let began = MonotonicTime.now()
                let capture: SupervisedCapture
                do {
                    capture = try SupervisedCapture(
                        launch, linkDescriptor: Self.linkDescriptor, confinement: confinement, group: group, link: link,
                        wake: wake, log: log)
                } catch {
                    log.error("capture can't be started: \(error)")
                    guard hasRun else {
                        onFailure(71)
                        return
                    }
                    // The capture could be started before, so the missing resource (processes, descriptors) may become
                    // free again.
                    pause = Self.longer(pause, hasArrived: false)
                    Self.wait(pause, on: wake, isStopped)
                    continue
                }
                guard let status = capture.waitForEnd(isStopped: isStopped) else { return }
                // A screen that was there may come back. One that was never there is most likely the wrong one.
                if !hasRun, !capture.hasArrived, case .exited(let code) = status, [64, 69, 77].contains(code) {
                    onFailure(code)
                    return
                }
                // A window doesn't come back, and another window of the same name may not be meant for the viewers.
                if status == .exited(Self.windowGone) {
                    onFailure(Self.windowGone)
                    return
                }
                hasRun = true
                if capture.hasArrived {
                    let wasGood = MonotonicTime.now() - began >= Self.goodRun
                    pause = wasGood ? .zero : min(pause, Self.longestPause.afterArrival)
                }
                let when = pause == .zero ? "at once" : "in \(pause.milliseconds) ms"
                log.warning("capture ended (\(status)); restarting it \(when)")
                Self.wait(pause, on: wake, isStopped)
                pause = Self.longer(pause, hasArrived: capture.hasArrived)
            }
        }
        guard let started else { throw .system("no thread left for capture's supervisor") }
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

    private static func longer(_ pause: Interval, hasArrived: Bool) -> Interval {
        let longest = hasArrived ? longestPause.afterArrival : longestPause.else
        return pause == .zero ? firstPause : min(pause * 2, longest)
    }

    /// Waits for `pause`. Late events of a capture that has ended don't cut it short.
    private static func wait(_ pause: Interval, on wake: WakeUp, _ isStopped: () -> Bool) {
        let end = MonotonicTime.now() + pause
        while !isStopped(), MonotonicTime.now() < end { wake.wait(until: end) }
    }
}
