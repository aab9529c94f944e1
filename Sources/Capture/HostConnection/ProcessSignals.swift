import CLinux
import Glibc

/// Makes SIGINT, SIGTERM and SIGUSR1 pollable, for the whole process; ignores SIGPIPE, because libraries write to
/// sockets whose other end may be gone, and SIGTTOU, so that a capture in the background can write its log to a
/// terminal.
///
/// If the process doesn't end by itself within a second of the first SIGINT or SIGTERM, it is ended with status 0: it
/// hangs in a call of a library whose server doesn't answer. Nothing is left behind then: that server and the
/// host see their connections end, and shared memory goes with its last user.
public struct ProcessSignals {
    /// Becomes readable when SIGINT or SIGTERM has come, and stays so.
    public let descriptor: Int32
    /// Becomes readable when SIGUSR1 has come, because the sharer wants to pause or to resume; stays so until
    /// ``takePauseToggle()`` is called.
    public let pauseDescriptor: Int32

    /// The seconds allowed for an orderly end. The sender of the signal is promised two.
    private static let grace: UInt32 = 1

    /// Takes over the signals; call it once. Nil with the reason in `errno` if eventfd(2) fails.
    public init?() {
        for number in [SIGPIPE, SIGTTOU] { signal(number, SIG_IGN) }
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if descriptor < 0 { return nil }
        pauseDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if pauseDescriptor < 0 { return nil }
        stopEvent = descriptor
        pauseEvent = pauseDescriptor
        isEnding = false
        // These are handlers and not a signalfd, because handlers also run while the process waits somewhere else than
        // in its own poll. They may only call what is safe there (signal-safety(7)).
        signal(SIGALRM) { _ in _exit(0) }
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in
                let code = errno
                // A second signal doesn't move the limit.
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

    /// Returns whether the pause state has to change, because SIGUSR1 has come an odd number of times since the last
    /// call.
    public func takePauseToggle() -> Bool {
        var count: UInt64 = 0
        return eventfd_read(pauseDescriptor, &count) == 0 && count % 2 == 1
    }
}

// Only for the handlers, which take no context. The signals interrupt one thread, and the values are single words.
nonisolated(unsafe) private var stopEvent: Int32 = -1
nonisolated(unsafe) private var pauseEvent: Int32 = -1
nonisolated(unsafe) private var isEnding = false
