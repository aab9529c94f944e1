import CLinux
import Clocks
import CommandLine
import DesktopIntegration
import Glibc
import MediaTypes
import Synchronization
import Threading

/// Waits for what ends a program: SIGINT, SIGTERM, SIGHUP, or a stage that can't continue. SIGUSR1 pauses and resumes.
/// SIGHUP reloads files, unless it was sent because the terminal was closed. The service manager is informed of reloads
/// and of the end.
final class EndSignals: Sendable {
    /// The service manager that has started the program, if one has.
    let manager = ServiceManager()
    private let wake: EventFD
    private let signals: Int32
    private let code = Mutex<Int32?>(nil)
    private let isReady = Flag()
    private let onPauseToggle = Mutex<@Sendable () -> Void>({})
    private let onReload = Mutex<(@Sendable () -> Void)?>(nil)
    private let hadTerminal = EndSignals.hasTerminal

    /// Blocks the signals in this thread and in all threads that it starts later. Nil if no descriptor is left.
    init?() {
        signal(SIGPIPE, SIG_IGN)
        guard let wake = EventFD() else { return nil }
        self.wake = wake
        signals = signalDescriptor(for: [SIGINT, SIGTERM, SIGUSR1, SIGHUP])
        if signals < 0 { return nil }
    }

    /// Sets the action for SIGUSR1, called on the waiting thread.
    func pauseToggles(_ action: @escaping @Sendable () -> Void) {
        onPauseToggle.withLock { $0 = action }
    }

    /// Sets the action for SIGHUP, called on the waiting thread instead of ending the program.
    func reloads(_ action: @escaping @Sendable () -> Void) {
        onReload.withLock { $0 = action }
    }

    /// Whether this process has a terminal that is still open.
    private static var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        if terminal >= 0 { close(terminal) }
        return terminal >= 0
    }

    /// Ends the wait with an exit code. Only the first call counts. Any thread.
    func end(with newCode: Int32) {
        code.withLock { code in if code == nil { code = newCode } }
        wake.signal()
    }

    /// Ends ``waitUntilReady(within:)``. Any thread.
    func becameReady() {
        isReady.set()
        wake.signal()
    }

    /// Waits at most `limit` until ``becameReady()`` is called. Returns the exit code if the program is to end first.
    func waitUntilReady(within limit: Interval) -> Int32? {
        wait(until: MonotonicTime.now() + limit) { self.isReady.isSet }
    }

    /// Has the waiting thread look at its ``DesktopSigns`` again. Any thread.
    func desktopNeedsUpdate() { wake.signal() }

    /// Waits until the program is to end, and meanwhile does the work of `desktop`. Returns the exit code from
    /// ``end(with:)``, or 0 after a signal.
    func wait(with desktop: DesktopSigns? = nil) -> Int32 {
        let code = wait(until: .distantFuture, with: desktop) { false } ?? 0
        manager?.tell(.stopping)
        return code
    }

    private func wait(
        until deadline: MonotonicTime, with desktop: DesktopSigns? = nil, orUntil condition: () -> Bool
    ) -> Int32? {
        // When to look whether the terminal is still there.
        var check = MonotonicTime.distantFuture
        while true {
            desktop?.process()
            if let code = code.withLock({ $0 }) { return code }
            let now = MonotonicTime.now()
            if condition() || now >= deadline { return nil }
            if now >= check {
                guard Self.hasTerminal else { return 0 }
                check = .distantFuture
            }
            var entries = [
                pollfd(signals),
                pollfd(wake.descriptor),
            ]
            if let desktop { entries += desktop.entries }
            waitForEvents(&entries, until: min(deadline, check, desktop?.deadline ?? .distantFuture))
            if entries[0].isReady, let number = takeSignal(from: signals) {
                // If the terminal was closed, end: a screen must not stay shared unnoticed.
                if number == SIGHUP, !hadTerminal || Self.hasTerminal, let reload = onReload.withLock({ $0 }) {
                    manager?.tell(.reloading(since: .now()))
                    reload()
                    manager?.tell(.ready())
                    // A shell that ends sends the signal to its jobs while their terminal is still open.
                    if hadTerminal { check = .now() + .seconds(2) }
                    continue
                }
                guard number == SIGUSR1 else {
                    // Unblock them, so that a second signal ends the program at once, whatever still hangs.
                    var set = sigset_t([SIGINT, SIGTERM])
                    pthread_sigmask(SIG_UNBLOCK, &set, nil)
                    return 0
                }
                onPauseToggle.withLock { $0 }()
            }
            wake.consume()
        }
    }
}
