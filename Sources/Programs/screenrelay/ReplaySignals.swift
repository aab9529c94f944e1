import CLinux
import Glibc
import Threading

/// What a person says to a running replay: end (SIGINT, SIGTERM), or stop at the next picture and go on (SIGUSR1, or a line on
/// standard input while it stands still).
final class ReplaySignals {
    /// What was said.
    enum Word {
        case end
        case toggle
    }

    /// Readable when a signal has come.
    let descriptor: Int32
    /// Whether standard input may still say something.
    private(set) var hasInput = true

    /// Takes the signals over; nil where no descriptor is left.
    init?() {
        signal(SIGPIPE, SIG_IGN)
        blockSignals([SIGINT, SIGTERM, SIGUSR1])
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGINT, SIGTERM, SIGUSR1] { sigaddset(&set, number) }
        descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// The next signal; nil where none has come.
    func next() -> Word? {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard read(descriptor, &information, size) == size else { return nil }
        return Int32(information.ssi_signo) == SIGUSR1 ? .toggle : .end
    }

    /// Whether a line has come on standard input, which must be readable; false at its end, after which it says no more.
    func takeLine() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(0, &bytes, bytes.count)
        if count <= 0 {
            hasInput = count < 0 && (errno == EINTR || errno == EAGAIN)
            return false
        }
        return bytes[..<count].contains(0x0A)
    }
}
