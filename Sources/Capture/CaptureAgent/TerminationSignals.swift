import CLinux
import Glibc

/// SIGINT and SIGTERM as something to poll, for the whole process; SIGPIPE is ignored, because the X library writes to
/// sockets whose other end may be gone.
///
/// Where the process doesn't end by itself within a second of the first signal, it is ended, with status 0: it hangs in a
/// call of the X library, whose server answers nothing. Nothing is left behind then: the X server and the host see their
/// connections end, and shared memory goes with its last user.
public struct TerminationSignals {
    /// Readable when one of them has come.
    public let descriptor: Int32

    /// Seconds for an end in good order. Two are promised to who sends the signal.
    private static let grace: UInt32 = 1

    /// Takes the signals over; call it once.
    public init() throws(CaptureError) {
        signal(SIGPIPE, SIG_IGN)
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if descriptor < 0 { throw .system(call: "eventfd", code: errno) }
        stopEvent = descriptor
        isEnding = false
        // Handlers and not a signalfd: they also run while the process waits somewhere else than in its own poll. They may
        // only call what is safe there (signal-safety(7)).
        signal(SIGALRM) { _ in _exit(0) }
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in
                let code = errno
                // A terminal's Ctrl-C comes beside the host's SIGTERM: the second doesn't move the limit.
                if !isEnding {
                    isEnding = true
                    alarm(TerminationSignals.grace)
                    eventfd_write(stopEvent, 1)
                }
                errno = code
            }
        }
    }
}

// For the handlers alone, which can't be given anything. Both signals interrupt one thread, and the values are single words.
nonisolated(unsafe) private var stopEvent: Int32 = -1
nonisolated(unsafe) private var isEnding = false
