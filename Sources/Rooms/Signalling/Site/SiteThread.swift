import CGLib
import LockOrder
import Synchronization
import Threading

/// The thread that owns a `Site` and everything below it: GLib's main context, sockets, libsoup, rooms.
///
/// Other threads must not touch any of these. They pass work to this thread with `post`, and the work receives the
/// site.
///
/// The `Sendable` conformance is unchecked: GLib locks its loop and its context, and only the thread uses the site and
/// what makes it, which is set before the thread starts.
final class SiteThread: @unchecked Sendable {
    typealias Work = @Sendable (Site) -> Void

    private struct Pending {
        var work: [Work] = []
        var hasEnded = false
    }

    private let context = MainContext()
    private let loop: OpaquePointer
    private let name: String
    private let pending = RankedMutex(Pending(), .innermost)
    private let thread = Mutex<Sent<UnsafeMutablePointer<GThread>?>>(Sent(nil))

    /// Accessed only by the thread itself.
    private var site: Site?
    /// Creates the site, on the thread. This closure is released after use: the media layer may keep this thread alive
    /// for late callbacks, so the thread must not keep the media layer alive in turn.
    private var makeSite: (@Sendable (SiteThread, _ context: OpaquePointer) -> Site)?

    init(name: String, makeSite: @escaping @Sendable (SiteThread, _ context: OpaquePointer) -> Site) {
        self.name = name
        self.makeSite = makeSite
        loop = g_main_loop_new(context.pointer, 0)
    }

    deinit { g_main_loop_unref(loop) }

    /// Starts the thread. May be called once.
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

    /// Runs `work` on the thread, in the order of the calls. May be called from any thread. Work posted after the end
    /// never runs.
    func post(_ work: @escaping Work) {
        let isFirst = pending.withLock { pending in
            guard !pending.hasEnded else { return false }
            pending.work.append(work)
            return pending.work.count == 1
        }
        // Posted work has priority over clients, so a client that connects after a call sees the effect of that call.
        if isFirst { context.post(priority: G_PRIORITY_HIGH) { [self] in drain() } }
    }

    /// Ends the thread's loop. Must be called on the thread.
    func quit() {
        g_main_loop_quit(loop)
    }

    /// Waits for the thread to end. May be called from any thread but this one. Only the first call waits; further
    /// calls do nothing.
    func join() {
        let ended = thread.withLock { thread in
            defer { thread.value = nil }
            return Sent(thread.value)
        }
        if let ended = ended.value { g_thread_join(ended) }
    }

    private func run() {
        context.use {
            site = makeSite?(self, context.pointer)
            makeSite = nil
            g_main_loop_run(loop)
            // Lets libsoup finish its work on closed connections.
            while g_main_context_iteration(context.pointer, 0) != 0 {}
            site = nil
            // Afterwards the context frees work that was posted but never ran, which keeps this object alive.
            pending.withLock { $0 = Pending(hasEnded: true) }
        }
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

/// Runs work with a part of the site on the site's thread, as `SiteThread.post` does. May be called from any thread.
typealias Post<Part> = @Sendable (_ work: @escaping @Sendable (Part) -> Void) -> Void
