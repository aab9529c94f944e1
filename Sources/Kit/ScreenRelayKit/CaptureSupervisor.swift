public import Ingest
import MediaTypes
import Processes
import Synchronization
public import Threading

/// Keeps a capture process running: starts it with one end of a socket pair, and again when it dies or hangs.
///
/// A thread of its own, asleep while the capture runs but for a look at its memory twice a second.
public final class CaptureSupervisor: Sendable {
    /// A capture that ran for so long is started again at once. One that dies sooner is too, once; after that it waits, and each
    /// time twice as long: up to half a second for one that had pictures to show, because who watches should barely notice, and up
    /// to five for one that never came so far.
    private static let goodRun = Interval.seconds(1)
    private static let firstPause = Interval.milliseconds(100)
    private static let longestPause = (afterArrival: Interval.milliseconds(500), else: Interval.seconds(5))
    /// What a capture ends with whose window is gone (EX_NOINPUT of sysexits).
    private static let windowGone: Int32 = 66
    /// The descriptor that the capture finds its end of the link under.
    private static let linkDescriptor: Int32 = 3

    private let wake: WakeUp
    private let isStopped = Mutex(false)
    private let thread: Mutex<NamedThread?>

    /// Starts `program` with `arguments` and `--link fd:3`.
    ///
    /// - Parameters:
    ///   - confinement: what the capture is given, and how much memory it may take.
    ///   - link: gets our end of each socket pair.
    ///   - onFailure: called once, on the supervisor's thread, where there is no use in another try: the first capture ended
    ///     before it had reached the link, with an exit code that would only come again (a wrong display, an option that is
    ///     wrong), or the window that is captured is gone. The code is handed on.
    public init(
        program: String, arguments: [String], confinement: CaptureConfinement = CaptureConfinement(), link: LinkServer,
        log: EventLog, onFailure: @escaping @Sendable (Int32) -> Void
    ) throws(HostError) {
        guard let wake = WakeUp() else { throw .system("no descriptor left for capture's supervisor") }
        self.wake = wake
        thread = Mutex(nil)
        let launch = Launch(program, arguments + ["--link", "fd:\(Self.linkDescriptor)"])
        let started = NamedThread("supervisor") { [weak self] in
            let isStopped = { self?.isStopped.withLock { $0 } ?? true }
            // One for all of them: it goes with this thread.
            let group = confinement.memory == .unlimited ? nil : MemoryGroup.make()
            var pause = Interval.zero
            var hasRun = false
            while !isStopped() {
                let began = monotonicNow()
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
                    // It could be started before: what is short now (processes, descriptors) may come back.
                    pause = Self.longer(pause, hasArrived: false)
                    Self.wait(pause, on: wake, isStopped)
                    continue
                }
                guard let status = capture.waitForEnd(isStopped: isStopped) else { return }
                // A screen that was there may come back; one that never was is most likely the wrong one.
                if !hasRun, !capture.hasArrived, case .exited(let code) = status, [64, 69, 77].contains(code) {
                    onFailure(code)
                    return
                }
                // A window doesn't come back, and one that is called the same may be none of the viewers' business.
                if status == .exited(Self.windowGone) {
                    onFailure(Self.windowGone)
                    return
                }
                hasRun = true
                if capture.hasArrived {
                    let wasGood = monotonicNow() - began >= Self.goodRun
                    pause = wasGood ? .zero : min(pause, Self.longestPause.afterArrival)
                }
                let when = pause == .zero ? "at once" : "in \(pause.milliseconds) ms"
                log.warning("capture ended (\(status)); it is started again \(when)")
                Self.wait(pause, on: wake, isStopped)
                pause = Self.longer(pause, hasArrived: capture.hasArrived)
            }
        }
        guard let started else { throw .system("no thread left for capture's supervisor") }
        thread.withLock { $0 = started }
    }

    deinit {
        isStopped.withLock { $0 = true }
        wake.signal()
    }

    /// Ends the capture, with SIGTERM and after 1 s with SIGKILL, and the thread. Idempotent.
    public func stop() {
        isStopped.withLock { $0 = true }
        wake.signal()
        thread.withLock { $0 }?.join()
    }

    private static func longer(_ pause: Interval, hasArrived: Bool) -> Interval {
        let longest = hasArrived ? longestPause.afterArrival : longestPause.else
        return pause == .zero ? firstPause : min(pause * 2, longest)
    }

    /// Lets time go by; late news of a capture that has ended cut nothing short.
    private static func wait(_ pause: Interval, on wake: WakeUp, _ isStopped: () -> Bool) {
        let end = monotonicNow() + pause
        while !isStopped(), monotonicNow() < end { wake.wait(until: end) }
    }
}
