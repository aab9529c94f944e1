import CGLib
package import MediaTypes
import Synchronization
import Threading

/// A thread with GLib's main loop, for connections to servers. What belongs to it is touched only by the work that is
/// posted, and by the sources on its context.
package final class ConnectionThread: @unchecked Sendable {
    /// Work, passed through C's void pointer.
    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// The main context, on which the thread's sources are.
    package let context: OpaquePointer
    private let loop: OpaquePointer
    private let hasEnded = Mutex(false)
    private let thread = Mutex<NamedThread?>(nil)
    /// Accessed only by the thread itself.
    private var ticking: EventSource?

    package init() {
        context = g_main_context_new()
        loop = g_main_loop_new(context, 0)
    }

    deinit {
        g_main_loop_unref(loop)
        g_main_context_unref(context)
    }

    /// Starts the thread, which then lives until `stop`. May be called once. Returns false if the system has no thread
    /// left.
    package func start(_ name: String) -> Bool {
        thread.withLock { thread in
            thread = NamedThread(name, blocksSignals: true) { [self] in run() }
            return thread != nil
        }
    }

    /// Runs `work` on the thread, in the order of the calls. Any thread. After the end, nothing is run any more.
    package func post(_ work: @escaping @Sendable () -> Void) {
        hasEnded.withLock { hasEnded in
            guard !hasEnded, let source = g_idle_source_new() else { return }
            g_source_set_priority(source, G_PRIORITY_DEFAULT)
            g_source_set_callback(
                source,
                { data in
                    if let data { Unmanaged<Work>.fromOpaque(data).takeUnretainedValue().run() }
                    return 0
                }, Unmanaged.passRetained(Work(work)).toOpaque()
            ) { data in
                if let data { Unmanaged<Work>.fromOpaque(data).release() }
            }
            g_source_attach(source, context)
            g_source_unref(source)
        }
    }

    /// Runs `work` every `milliseconds` until the end. Called once, on the thread.
    package func tick(every milliseconds: UInt32, _ work: @escaping () -> Void) {
        ticking = EventSource.timer(every: milliseconds, on: context, of: self) { _ in
            work()
            return true
        }
    }

    /// Ends the thread, after the work that was posted before. Any thread; doesn't wait for it.
    package func stop() {
        post { [self] in
            ticking = nil
            g_main_loop_quit(loop)
        }
    }

    /// Waits until the thread has ended, but not for longer than until `deadline`. Not on the thread itself.
    package func join(until deadline: MonotonicTime) {
        let ending = thread.withLock { $0.take() }
        ending?.join(until: deadline)
    }

    private func run() {
        g_main_context_push_thread_default(context)
        g_main_loop_run(loop)
        hasEnded.withLock { $0 = true }
        // Lets GLib finish what was cancelled.
        while g_main_context_iteration(context, 0) != 0 {}
        g_main_context_pop_thread_default(context)
    }
}
