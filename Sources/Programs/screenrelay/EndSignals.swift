import CLinux
import Glibc
import MediaTypes
import Synchronization
import Threading

/// Waits for what ends a program: SIGINT, SIGTERM, SIGHUP, or a stage that can't go on. SIGUSR1 pauses and goes on; SIGHUP has
/// files read again where there is something to read, unless it says that the terminal is gone.
final class EndSignals: Sendable {
    private let wake: WakeUp
    private let signals: Int32
    private let code = Mutex<Int32?>(nil)
    private let isReady = Mutex(false)
    private let onPauseToggle = Mutex<@Sendable () -> Void>({})
    private let onReload = Mutex<(@Sendable () -> Void)?>(nil)
    private let hadTerminal = EndSignals.hasTerminal

    /// Blocks the signals in this thread and all that start after it; nil where no descriptor is left.
    init?() {
        signal(SIGPIPE, SIG_IGN)
        raiseDescriptorLimit()
        blockSignals([SIGINT, SIGTERM, SIGUSR1, SIGHUP])
        var set = Self.endingSignals
        sigaddset(&set, SIGUSR1)
        sigaddset(&set, SIGHUP)
        guard let wake = WakeUp() else { return nil }
        self.wake = wake
        signals = signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        if signals < 0 { return nil }
    }

    private static var endingSignals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }

    /// What SIGUSR1 does from now on, on the thread that waits.
    func pauseToggles(_ action: @escaping @Sendable () -> Void) {
        onPauseToggle.withLock { $0 = action }
    }

    /// What SIGHUP does from now on, on the thread that waits, in place of ending the program.
    func reloads(_ action: @escaping @Sendable () -> Void) {
        onReload.withLock { $0 = action }
    }

    /// Whether this process has a terminal that is still there.
    private static var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        if terminal >= 0 { close(terminal) }
        return terminal >= 0
    }

    /// Ends the wait with an exit code; the first one counts. Any thread.
    func end(with newCode: Int32) {
        code.withLock { code in if code == nil { code = newCode } }
        wake.signal()
    }

    /// What ``waitUntilReady(within:)`` waits for has come. Any thread.
    func becameReady() {
        isReady.withLock { $0 = true }
        wake.signal()
    }

    /// Waits until ``becameReady()``, at most so long; gives the exit code where the end came first.
    func waitUntilReady(within limit: Interval) -> Int32? {
        wait(until: monotonicNow() + limit) { self.isReady.withLock { $0 } }
    }

    /// Waits; gives the exit code that was asked for, or 0 at a signal.
    func wait() -> Int32 {
        wait(until: .distantFuture) { false } ?? 0
    }

    private func wait(until deadline: MonotonicTime, orUntil condition: () -> Bool) -> Int32? {
        while true {
            if let code = code.withLock({ $0 }) { return code }
            if condition() || monotonicNow() >= deadline { return nil }
            var entries = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            entries.withUnsafeMutableBufferPointer { entries in
                guard let base = entries.baseAddress else { return }
                waitForEvents(base, count: entries.count, until: deadline)
            }
            if entries[0].revents != 0, let number = readSignal() {
                // A closed terminal must not leave a screen shared that nobody sees any more.
                if number == SIGHUP, !hadTerminal || Self.hasTerminal, let reload = onReload.withLock({ $0 }) {
                    reload()
                    continue
                }
                guard number == SIGUSR1 else {
                    // A second signal ends the program at once, whatever still hangs.
                    var set = Self.endingSignals
                    pthread_sigmask(SIG_UNBLOCK, &set, nil)
                    return 0
                }
                onPauseToggle.withLock { $0 }()
            }
            wake.consume()
        }
    }

    private func readSignal() -> Int32? {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        return read(signals, &information, size) == size ? Int32(information.ssi_signo) : nil
    }
}

/// Viewers, players and captures take a descriptor each: take as many as the system lets us have, not the cautious default.
private func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
