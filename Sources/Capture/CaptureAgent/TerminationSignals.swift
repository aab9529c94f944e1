import CLinux
import Glibc

/// SIGINT and SIGTERM as something to poll, for the whole process; SIGPIPE is ignored, because the X library writes to
/// sockets whose other end may be gone.
public struct TerminationSignals {
    /// Readable when one of them has come.
    public let descriptor: Int32

    /// Blocks the signals in this thread and all that it starts; call it before any other thread exists.
    public init() throws(CaptureError) {
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        let blocked = pthread_sigmask(SIG_BLOCK, &signals, nil)
        if blocked != 0 { throw .system(call: "pthread_sigmask", code: blocked) }
        descriptor = signalfd(-1, &signals, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        if descriptor < 0 { throw .system(call: "signalfd", code: errno) }
    }
}
