import CLinux
import Glibc
public import Ingest
import LinkTransport
import MediaTypes
import Processes
import Synchronization
public import Threading

/// Keeps a capture process running: starts it with one end of a socket pair, and again when it dies.
///
/// A thread of its own, asleep while the capture runs.
public final class CaptureSupervisor: Sendable {
    /// The wait before the second start, doubled up to `longestPause`; a capture that ran for `goodRun` begins anew.
    private static let firstPause = Interval.milliseconds(100)
    private static let longestPause = Interval.seconds(5)
    private static let goodRun = Interval.seconds(10)
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
    ///   - link: gets our end of each socket pair.
    ///   - onFailure: called once, on the supervisor's thread, where there is no use in another try: the first capture ended
    ///     before it had reached the link, with an exit code that would only come again (a wrong display, an option that is
    ///     wrong), or the window that is captured is gone. The code is handed on.
    public init(
        program: String, arguments: [String], link: LinkServer, log: EventLog,
        onFailure: @escaping @Sendable (Int32) -> Void
    ) throws(HostError) {
        guard let wake = WakeUp() else { throw .system("no descriptor left for capture's supervisor") }
        self.wake = wake
        thread = Mutex(nil)
        let started = NamedThread("supervisor") { [weak self] in
            var pause = Self.firstPause
            var hasRun = false
            while let isStopped = self?.isStopped.withLock({ $0 }), !isStopped {
                let began = monotonicNow()
                guard let child = Self.start(program, arguments, link: link, log: log) else {
                    guard hasRun else {
                        onFailure(71)
                        return
                    }
                    // It could be started before: what is short now (processes, descriptors) may come back.
                    wake.wait(until: monotonicNow() + pause)
                    pause = min(pause * 2, Self.longestPause)
                    continue
                }
                let status = Self.waitForEnd(of: child, wake: wake) { self?.isStopped.withLock { $0 } ?? true }
                guard let status else { return }
                let ran = monotonicNow() - began
                if ran >= Self.goodRun { pause = Self.firstPause }
                // A screen that was there may come back; one that never was is most likely the wrong one.
                if !hasRun, !link.hasHadCapture, case .exited(let code) = status, [64, 69, 77].contains(code) {
                    onFailure(code)
                    return
                }
                // A window doesn't come back, and one that is called the same may be none of the viewers' business.
                if status == .exited(Self.windowGone) {
                    onFailure(Self.windowGone)
                    return
                }
                hasRun = true
                log.warning("capture ended (\(status)); it is started again in \(pause.milliseconds) ms")
                wake.wait(until: monotonicNow() + pause)
                pause = min(pause * 2, Self.longestPause)
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

    private static func start(
        _ program: String, _ arguments: [String], link: LinkServer, log: EventLog
    ) -> ChildProcess? {
        do {
            let pair = try LinkSocketPair()
            defer { pair.closeChild() }
            var launch = Launch(program, arguments + ["--link", "fd:\(linkDescriptor)"])
            launch.descriptors = [linkDescriptor: pair.childDescriptor]
            let child = try ChildProcess(launch)
            // Our end lives on in the link's thread under a number of its own.
            let ours = fcntl(pair.connection.descriptor, F_DUPFD_CLOEXEC, 3)
            if ours >= 0 { link.adopt(descriptor: ours) }
            log.info("capture is process \(child.processID)")
            return child
        } catch {
            log.error("capture can't be started: \(error)")
            return nil
        }
    }

    /// How the child ended; nil where the supervisor was stopped and has ended it.
    private static func waitForEnd(
        of child: ChildProcess, wake: WakeUp, isStopped: () -> Bool
    ) -> ProcessStatus? {
        let process = shim_pidfd_open(child.processID)
        defer { if process >= 0 { close(process) } }
        while true {
            if isStopped() {
                child.stop(within: .seconds(1))
                return nil
            }
            if let status = child.poll() { return status }
            var entries = [
                pollfd(fd: process, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            // A kernel without pidfd_open is asked now and then instead.
            let deadline = process >= 0 ? MonotonicTime.distantFuture : monotonicNow() + .milliseconds(200)
            entries.withUnsafeMutableBufferPointer { entries in
                guard let base = entries.baseAddress else { return }
                waitForEvents(base, count: entries.count, until: deadline)
            }
            wake.consume()
        }
    }
}
