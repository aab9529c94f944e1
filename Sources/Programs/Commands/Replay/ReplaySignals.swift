import Clocks
import Glibc
import MediaTypes
import Threading

/// A person's commands to a running replay: end (SIGINT, SIGTERM), or pause at the next picture and continue (SIGUSR1,
/// or a line on standard input while it is paused).
final class ReplaySignals {
    /// A command.
    enum Word {
        case end
        case toggle
    }

    /// Readable when a signal has arrived.
    let descriptor: Int32
    /// Whether standard input can bring commands. It can't if the recording comes from there.
    private(set) var hasInput = true
    /// Whether ``mayRead(_:)`` waits. True until the replay runs, which waits by itself.
    var waits = true
    /// The commands that arrived during a wait: whether to end, and whether to pause.
    private(set) var hasEnded = false
    private(set) var isPauseWanted = false

    /// Takes over the signals. Nil if no descriptor is left.
    init?() {
        signal(SIGPIPE, SIG_IGN)
        descriptor = signalDescriptor(for: [SIGINT, SIGTERM, SIGUSR1])
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Leaves standard input to the recording.
    func giveInputUp() { hasInput = false }

    /// Whether the recording can be read now. If this waits, it is true unless the program was told to end.
    func mayRead(_ input: Int32) -> Bool {
        if waits { return wait(for: input, POLLIN, until: .distantFuture) }
        var entries = [
            pollfd(input),
            pollfd(descriptor),
        ]
        waitForEvents(&entries, until: .zero)
        return entries[0].isReady && !entries[1].isReady
    }

    /// Waits for events on `other` or until `deadline`. Returns false if the program was told to end.
    func wait(for other: Int32, _ events: Int32, until deadline: MonotonicTime) -> Bool {
        while !hasEnded {
            var entries = [
                pollfd(other, events),
                pollfd(descriptor),
            ]
            waitForEvents(&entries, until: deadline)
            while let word = next() {
                switch word {
                case .end: hasEnded = true
                case .toggle: isPauseWanted.toggle()
                }
            }
            if !hasEnded, entries[0].isReady || MonotonicTime.now() >= deadline { return true }
        }
        return false
    }

    /// The next signal, or nil if none has arrived.
    func next() -> Word? {
        takeSignal(from: descriptor).map { $0 == SIGUSR1 ? .toggle : .end }
    }

    /// Reads from standard input, which must be readable. Returns whether a line has ended. At its end, `hasInput`
    /// becomes false.
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
