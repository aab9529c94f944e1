import CGLib
import Clocks
package import MediaTypes

/// A GLib main context for one thread, which runs the events that arrive there, and the operations that GLib has begun
/// there for us.
///
/// It belongs to the thread that uses it; others only wake it or post work.
///
/// The `Sendable` conformance is unchecked: GLib locks its context, and only the thread counts the calls.
package final class MainContext: @unchecked Sendable {
    /// Work, passed through C's void pointer.
    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    let pointer: OpaquePointer
    /// How many calls GLib has yet to make to us, whatever has been cancelled.
    private var awaited = 0

    package init() {
        GLibTypes.make()
        pointer = g_main_context_new()
    }

    deinit { g_main_context_unref(pointer) }

    /// Makes the context the calling thread's for `body`, and afterwards waits until GLib has finished its operations,
    /// which should have been cancelled by then. Otherwise objects that wait for an operation would never be freed, nor
    /// would the context.
    package func use(_ body: () -> Void) {
        g_main_context_push_thread_default(pointer)
        body()
        // A name that is being looked up is given up on another thread of GLib's, which calls back a little later.
        while awaited > 0 { g_main_context_iteration(pointer, 1) }
        while g_main_context_iteration(pointer, 0) != 0 {}
        g_main_context_pop_thread_default(pointer)
    }

    /// Waits for an event, and runs it. Returns without an event at `deadline`, or when woken.
    package func iterate(until deadline: MonotonicTime = .distantFuture) {
        guard deadline != .distantFuture else {
            g_main_context_iteration(pointer, 1)
            return
        }
        let time = max(.zero, min(deadline - .now(), .seconds(3600)))
        let timer = g_timeout_source_new(guint(clamping: time.milliseconds + 1))
        g_source_set_callback(timer, { _ in 0 }, nil, nil)
        g_source_attach(timer, pointer)
        g_main_context_iteration(pointer, 1)
        g_source_destroy(timer)
        g_source_unref(timer)
    }

    /// Runs `work` on the thread that uses the context, in the order of the calls. Any thread.
    func post(priority: gint = G_PRIORITY_DEFAULT, _ work: @escaping @Sendable () -> Void) {
        guard let source = g_idle_source_new() else { return }
        g_source_set_priority(source, priority)
        g_source_set_callback(
            source,
            { data in
                if let data { Unmanaged<Work>.fromOpaque(data).takeUnretainedValue().run() }
                return 0
            }, Unmanaged.passRetained(Work(work)).toOpaque()
        ) { data in
            if let data { Unmanaged<Work>.fromOpaque(data).release() }
        }
        g_source_attach(source, pointer)
        g_source_unref(source)
    }

    /// Makes `iterate` return. Any thread.
    package func wake() { g_main_context_wakeup(pointer) }

    /// Notes that GLib will call us on the thread.
    func awaitCall() { awaited += 1 }

    /// Notes that it has.
    func gotCall() { awaited -= 1 }
}
