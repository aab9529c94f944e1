import CLinux
import Glibc
public import MediaTypes

/// A POSIX thread with a name that shows in `top -H` and in a debugger.
public final class NamedThread: Sendable {
    /// The thread's name and body, passed through C's void pointer.
    private final class Body: Sendable {
        let name: String
        let hasLowPriority: Bool
        let run: @Sendable () -> Void

        init(name: String, hasLowPriority: Bool, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.hasLowPriority = hasLowPriority
            self.run = run
        }
    }

    /// By how much the nice value of a thread with low priority is higher. If such a thread and another one want the
    /// same processor, the other one gets three quarters of its time, and usually its turn as soon as it wakes up. The
    /// quarter that is left is enough to release soon a lock that the other one waits for.
    private static let lowPriorityStep: Int32 = 5

    private let thread: pthread_t
    private let isJoined = Flag()

    /// Starts a thread that runs `body`; nil if the system can't create another thread.
    ///
    /// - Parameters:
    ///   - name: the thread's name, cut off after 15 bytes, the kernel's limit.
    ///   - blocksSignals: whether the thread leaves all signals to other threads.
    ///   - hasLowPriority: whether the thread, and those that it starts, have a lower priority than the calling thread,
    ///     so that others go first where processors are short. Otherwise it has the same one.
    public init?(
        _ name: String, blocksSignals: Bool = false, hasLowPriority: Bool = false, body: @escaping @Sendable () -> Void
    ) {
        var before = sigset_t()
        if blocksSignals {
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, &before)
        }
        defer { if blocksSignals { pthread_sigmask(SIG_SETMASK, &before, nil) } }
        let retained = Unmanaged.passRetained(Body(name: name, hasLowPriority: hasLowPriority, run: body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                _ = shim_name_this_thread(String(decoding: body.name.utf8.prefix(15), as: UTF8.self))
                // On Linux, each thread has a nice value of its own (setpriority(2)). Where a filter of system calls
                // refuses the change, the thread works all the same.
                if body.hasLowPriority { _ = nice(NamedThread.lowPriorityStep) }
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
        if !isJoined.isSet { pthread_detach(thread) }
    }

    /// Waits until the thread has ended. Only the first call waits; later calls return at once. Must not be called on
    /// the thread itself.
    public func join() { join(until: .distantFuture) }

    /// Waits until the thread has ended, but no longer than until `deadline`. Returns false if the thread is still
    /// running then; it is detached, and can't be waited for any more. As above, only the first call waits.
    @discardableResult
    public func join(until deadline: MonotonicTime) -> Bool {
        if isJoined.set() { return true }
        if deadline == .distantFuture {
            pthread_join(thread, nil)
        } else if shim_join_thread_until(thread, deadline.nanoseconds) != 0 {
            pthread_detach(thread)
            return false
        }
        return true
    }
}
