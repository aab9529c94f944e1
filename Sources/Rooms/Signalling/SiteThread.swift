import CGLib
import Synchronization

/// The thread that owns a `Site` and everything below it: GLib's main context, sockets, libsoup, rooms.
///
/// Nothing of a site is touched by any other thread; they send it work by `post`, and the work is handed the site.
final class SiteThread: @unchecked Sendable {
    typealias Work = @Sendable (Site) -> Void

    private struct Pending {
        var work: [Work] = []
        var hasEnded = false
    }

    private let context: OpaquePointer
    private let loop: OpaquePointer
    private let name: String
    private let pending = Mutex(Pending())
    private let thread = Mutex<Sent<UnsafeMutablePointer<GThread>?>>(Sent(value: nil))

    /// Read and written by the thread alone.
    private var site: Site?
    /// Makes the site, on the thread. Used up by that: the media side may keep this thread for its late words, and must not
    /// be kept by it in turn.
    private var makeSite: (@Sendable (SiteThread, _ context: OpaquePointer) -> Site)?

    init(name: String, makeSite: @escaping @Sendable (SiteThread, _ context: OpaquePointer) -> Site) {
        self.name = name
        self.makeSite = makeSite
        context = g_main_context_new()
        loop = g_main_loop_new(context, 0)
    }

    deinit {
        g_main_loop_unref(loop)
        g_main_context_unref(context)
    }

    /// Starts the thread; once.
    func start() {
        let me = Unmanaged.passRetained(self).toOpaque()
        thread.withLock {
            $0.value = g_thread_new(
                name,
                { data in
                    guard let data else { return nil }
                    Unmanaged<SiteThread>.fromOpaque(data).takeRetainedValue().run()
                    return nil
                }, me)
        }
    }

    /// Has `work` done on the thread, in the order of the calls. From any thread. Work posted after the end is never done.
    func post(_ work: @escaping Work) {
        let isFirst = pending.withLock { pending in
            guard !pending.hasEnded else { return false }
            pending.work.append(work)
            return pending.work.count == 1
        }
        guard isFirst, let source = g_idle_source_new() else { return }
        // In front of what clients want: whoever connects after a call finds done what it asked for.
        g_source_set_priority(source, G_PRIORITY_HIGH)
        g_source_set_callback(
            source,
            { data in
                if let data { Unmanaged<SiteThread>.fromOpaque(data).takeUnretainedValue().drain() }
                return 0
            }, Unmanaged.passRetained(self).toOpaque()
        ) { data in
            if let data { Unmanaged<SiteThread>.fromOpaque(data).release() }
        }
        g_source_attach(source, context)
        g_source_unref(source)
    }

    /// Ends the thread's loop. On the thread.
    func quit() {
        g_main_loop_quit(loop)
    }

    /// Waits for the thread's end. From any thread but this one; a second time does nothing.
    func join() {
        let ended = thread.withLock { thread in
            defer { thread.value = nil }
            return Sent(value: thread.value)
        }
        if let ended = ended.value { g_thread_join(ended) }
    }

    private func run() {
        g_main_context_push_thread_default(context)
        site = makeSite?(self, context)
        makeSite = nil
        g_main_loop_run(loop)
        // What libsoup left to do about closed connections.
        while g_main_context_iteration(context, 0) != 0 {}
        site = nil
        pending.withLock { $0 = Pending(hasEnded: true) }
        // Frees what was posted and never done: a source keeps this thread's owner alive.
        while g_main_context_iteration(context, 0) != 0 {}
        g_main_context_pop_thread_default(context)
    }

    private func drain() {
        let work = pending.withLock { pending in
            defer { pending.work = [] }
            return pending.work
        }
        guard let site else { return }
        for item in work { item(site) }
    }
}

/// Takes a C pointer to the thread that owns it from there on.
struct Sent<Value>: @unchecked Sendable {
    var value: Value
}
