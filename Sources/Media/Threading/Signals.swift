public import CLinux
import Glibc

extension sigset_t {
    /// The set of these signals.
    public init(_ signals: [Int32]) {
        self.init()
        sigemptyset(&self)
        for signal in signals { sigaddset(&self, signal) }
    }
}

/// Blocks `signals` in this thread, so that a `signalfd` can receive them. Call it before any thread starts, so that
/// all threads inherit the mask.
public func blockSignals(_ signals: [Int32]) {
    var set = sigset_t(signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
}

/// Blocks `signals` in the same way, and returns a descriptor that is readable while one of them waits to be taken
/// (signalfd(2)). Returns -1 with the reason in `errno` if that fails. The caller closes the descriptor.
public func signalDescriptor(for signals: [Int32]) -> Int32 {
    blockSignals(signals)
    var set = sigset_t(signals)
    return signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
}

/// Takes the next signal from such a descriptor; nil if none waits.
public func takeSignal(from descriptor: Int32) -> Int32? {
    var information = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    return read(descriptor, &information, size) == size ? Int32(information.ssi_signo) : nil
}
