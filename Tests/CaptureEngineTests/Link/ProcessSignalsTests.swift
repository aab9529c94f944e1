import Glibc
import HostConnection
import TestSupport
import Testing

@Suite("Signals of a capture", .serialized)
struct ProcessSignalsTests {
    private func isReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    @Test("SIGUSR1 asks for pause once, twice takes it back, and it is no reason to end")
    func pause() throws {
        // They end a process, and this one is all the tests'.
        let ending = [SIGINT, SIGTERM, SIGALRM]
        let handlers = ending.map { signal($0, SIG_DFL) }
        defer { for (number, handler) in zip(ending, handlers) { signal(number, handler) } }
        let signals = try #require(ProcessSignals())
        defer { signal(SIGUSR1, SIG_IGN) }
        #expect(!signals.takePauseToggle())
        kill(getpid(), SIGUSR1)
        try eventually("the signal", holds: { isReadable(signals.pauseDescriptor) })
        #expect(!isReadable(signals.descriptor))
        #expect(signals.takePauseToggle())
        #expect(!isReadable(signals.pauseDescriptor))
        #expect(!signals.takePauseToggle())

        // Two that are pending at once would be one: this thread takes each before the next.
        var set = sigset_t()
        var before = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGUSR1)
        pthread_sigmask(SIG_UNBLOCK, &set, &before)
        raise(SIGUSR1)
        raise(SIGUSR1)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        #expect(isReadable(signals.pauseDescriptor))
        #expect(!signals.takePauseToggle())
        #expect(!isReadable(signals.descriptor))
    }
}
