import CLinux
import Glibc
import Synchronization

/// A POSIX thread with a name that shows in `top -H` and in a debugger.
public final class NamedThread: Sendable {
    /// What a thread runs; handed over through C's pointer.
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

    /// Starts a thread that runs `body`; nil where the system has no room for one more.
    ///
    /// - Parameter name: at most 15 bytes, the kernel's limit; the rest is cut off.
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
        // Nobody will ask for its end any more: the system may forget it then.
        if !isJoined.withLock({ $0 }) { pthread_detach(thread) }
    }

    /// Waits until the thread has ended; whoever calls after the first returns at once. Not on the thread itself.
    public func join() {
        let isFirst = isJoined.withLock { isJoined in
            defer { isJoined = true }
            return !isJoined
        }
        if isFirst { pthread_join(thread, nil) }
    }
}

/// Whether signals that end the program go to a `signalfd` or the main thread: called before any thread starts, so that
/// all of them inherit the mask.
public func blockSignals(_ signals: [Int32]) {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
}
