import CLinux
import Glibc

/// SIGINT, SIGTERM and SIGUSR1 as something to poll, for the whole process; SIGPIPE is ignored, because the X library
/// writes to sockets whose other end may be gone.
///
/// Where the process doesn't end by itself within a second of the first SIGINT or SIGTERM, it is ended, with status 0: it
/// hangs in a call of the X library, whose server answers nothing. Nothing is left behind then: the X server and the host see
/// their connections end, and shared memory goes with its last user.
public struct ProcessSignals {
    /// Readable when SIGINT or SIGTERM has come, and stays so.
    public let descriptor: Int32
    /// Readable when SIGUSR1 has come: the sharer wants to pause, or to go on. Until ``takePauseToggle()``.
    public let pauseDescriptor: Int32

    /// Seconds for an end in good order. Two are promised to who sends the signal.
    private static let grace: UInt32 = 1

    /// Takes the signals over; call it once.
    public init() throws(CaptureError) {
        signal(SIGPIPE, SIG_IGN)
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if descriptor < 0 { throw .system(call: "eventfd", code: errno) }
        pauseDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if pauseDescriptor < 0 { throw .system(call: "eventfd", code: errno) }
        stopEvent = descriptor
        pauseEvent = pauseDescriptor
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
                    alarm(ProcessSignals.grace)
                    eventfd_write(stopEvent, 1)
                }
                errno = code
            }
        }
        signal(SIGUSR1) { _ in
            let code = errno
            eventfd_write(pauseEvent, 1)
            errno = code
        }
    }

    /// Whether SIGUSR1 has come since the last call so that pause has to change: an odd number of times.
    public func takePauseToggle() -> Bool {
        var count: UInt64 = 0
        return eventfd_read(pauseDescriptor, &count) == 0 && count % 2 == 1
    }
}

// For the handlers alone, which can't be given anything. The signals interrupt one thread, and the values are single words.
nonisolated(unsafe) private var stopEvent: Int32 = -1
nonisolated(unsafe) private var pauseEvent: Int32 = -1
nonisolated(unsafe) private var isEnding = false
