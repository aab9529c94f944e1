import CLinux
import Glibc
import Synchronization

/// A POSIX thread with a name that shows in `top -H` and in a debugger.
public final class NamedThread: Sendable {
    /// The thread's name and body, passed through C's void pointer.
    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    private let thread: pthread_t
    private let isJoined = Mutex(false)

    /// Starts a thread that runs `body`; nil if the system can't create another thread.
    ///
    /// - Parameter name: the thread's name, cut off after 15 bytes, the kernel's limit.
    public init?(_ name: String, body: @escaping @Sendable () -> Void) {
        let retained = Unmanaged.passRetained(Body(name: name, run: body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                _ = shim_name_this_thread(String(decoding: body.name.utf8.prefix(15), as: UTF8.self))
                body.run()
                return nil
            }, retained.toOpaque())
        guard result == 0 else {
            retained.release()
            return nil
        }
        self.thread = thread
    }

    deinit {
        // Nobody can join the thread any more, so the system may free it as soon as it ends.
        if !isJoined.withLock({ $0 }) { pthread_detach(thread) }
    }

    /// Waits until the thread has ended. Only the first call waits; later calls return at once. Must not be called on
    /// the thread itself.
    public func join() {
        let isFirst = isJoined.withLock { isJoined in
            defer { isJoined = true }
            return !isJoined
        }
        if isFirst { pthread_join(thread, nil) }
    }
}

/// Blocks `signals` in this thread, so that a `signalfd` can receive them. Call it before any thread starts, so that
/// all threads inherit the mask.
public func blockSignals(_ signals: [Int32]) {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
}
