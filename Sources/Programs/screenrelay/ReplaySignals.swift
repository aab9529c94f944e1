import CLinux
import Glibc
import MediaTypes
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
    /// Whether standard input may still say something: not where the recording comes from there.
    private(set) var hasInput = true
    /// Whether ``mayRead(_:)`` waits: before the replay runs, which waits itself.
    var waits = true
    /// Whether the end was asked for while that waited, and how the other words were.
    private(set) var hasEnded = false
    private(set) var isPauseWanted = false

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

    /// Standard input belongs to the recording.
    func giveInputUp() { hasInput = false }

    /// Whether the recording can be read now; where this waits it is, unless the end was asked for.
    func mayRead(_ input: Int32) -> Bool {
        if waits { return wait(for: input, Int16(POLLIN), until: .distantFuture) }
        var entries = [
            pollfd(fd: input, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        poll(&entries, nfds_t(entries.count), 0)
        return entries[0].revents != 0 && entries[1].revents == 0
    }

    /// Waits until something has happened there or it is time; false where the end was asked for.
    func wait(for other: Int32, _ events: Int16, until deadline: MonotonicTime) -> Bool {
        while !hasEnded {
            var entries = [
                pollfd(fd: other, events: events, revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            entries.withUnsafeMutableBufferPointer { entries in
                guard let base = entries.baseAddress else { return }
                waitForEvents(base, count: entries.count, until: deadline)
            }
            while let word = next() {
                switch word {
                case .end: hasEnded = true
                case .toggle: isPauseWanted.toggle()
                }
            }
            if !hasEnded, entries[0].revents != 0 || monotonicNow() >= deadline { return true }
        }
        return false
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
