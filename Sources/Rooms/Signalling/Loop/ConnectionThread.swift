import CGLib
package import MediaTypes
import Synchronization
import Threading

/// A thread with GLib's main loop, for connections to servers. What belongs to it is touched only by the work that is
/// posted, and by the sources on its context; `check` traps in a debug build where that isn't so.
///
/// The `Sendable` conformance is unchecked: GLib locks its loop and its context, and only the thread uses `ticking`.
package final class ConnectionThread: @unchecked Sendable {
    /// The main context, on which the thread's sources are.
    package let context = MainContext()
    private let loop: OpaquePointer
    /// Whether work that is posted will be done.
    private let isRunning = Mutex(false)
    private let thread = Mutex<NamedThread?>(nil)
    private var ticking: EventSource?

    package init() { loop = g_main_loop_new(context.pointer, 0) }

    deinit { g_main_loop_unref(loop) }

    /// Starts the thread, which then lives until `stop`. May be called once. Returns false if the system has no thread
    /// left.
    package func start(_ name: String) -> Bool {
        isRunning.withLock { $0 = true }
        guard let started = NamedThread(name, blocksSignals: true, body: { [self] in run() }) else {
            isRunning.withLock { $0 = false }
            return false
        }
        thread.withLock { $0 = started }
        return true
    }

    /// Runs `work` on the thread, in the order of the calls. Any thread. Before the start and after the end, does
    /// nothing.
    package func post(_ work: @escaping @Sendable () -> Void) {
        isRunning.withLock { isRunning in
            if isRunning { context.post(work) }
        }
    }

    /// Traps in a debug build if the calling thread isn't this one. A release build checks nothing.
    package func check(file: StaticString = #fileID, line: UInt = #line) {
        #if DEBUG
            precondition(
                g_main_context_is_owner(context.pointer) != 0, "called on a thread that doesn't own this", file: file,
                line: line)
        #endif
    }

    /// Runs `work` every `period` until the end. Called once, on the thread.
    package func tick(every period: Interval, _ work: @escaping () -> Void) {
        check()
        ticking = EventSource.timer(every: period, on: context.pointer, of: self) { _ in
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
        context.use {
            g_main_loop_run(loop)
            isRunning.withLock { $0 = false }
        }
    }
}
