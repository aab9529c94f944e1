import CGLib
import MediaTypes

/// A GSource that calls a Swift closure on its context's thread. The closure returns whether to call it again.
///
/// The closure is passed the owner of the source, which must outlive it.
///
/// It belongs to the thread of its context. It ends when it is cancelled, when the closure returns false, or with the
/// context; the closure is freed then.
final class EventSource {
    private let source: UnsafeMutablePointer<GSource>

    /// The closure, owned by the GSource.
    private final class Action {
        let run: () -> Bool
        init(_ run: @escaping () -> Bool) { self.run = run }

        static func call(_ data: gpointer?) -> gboolean {
            guard let data else { return 0 }
            return Unmanaged<Action>.fromOpaque(data).takeUnretainedValue().run() ? 1 : 0
        }
    }

    /// The signature of the C callback, which depends on the kind of source.
    private enum Shape {
        case plain, pollable, socket
    }

    private init<Owner: AnyObject>(
        _ source: UnsafeMutablePointer<GSource>, _ shape: Shape, on context: OpaquePointer, of owner: Owner,
        _ run: @escaping (Owner) -> Bool
    ) {
        self.source = source
        let plain: @convention(c) (gpointer?) -> gboolean = { Action.call($0) }
        let pollable: @convention(c) (UnsafeMutablePointer<GObject>?, gpointer?) -> gboolean = { Action.call($1) }
        let socket: @convention(c) (UnsafeMutablePointer<GSocket>?, GIOCondition, gpointer?) -> gboolean = {
            Action.call($2)
        }
        let callback: GSourceFunc =
            switch shape {
            case .plain: plain
            case .pollable: unsafeBitCast(pollable, to: GSourceFunc.self)
            case .socket: unsafeBitCast(socket, to: GSourceFunc.self)
            }
        let action = Action { [unowned owner] in run(owner) }
        g_source_set_callback(source, callback, Unmanaged.passRetained(action).toOpaque()) { data in
            if let data { Unmanaged<Action>.fromOpaque(data).release() }
        }
        g_source_attach(source, context)
    }

    deinit {
        cancel()
        g_source_unref(source)
    }

    /// Ends the source. Further calls do nothing.
    func cancel() {
        g_source_destroy(source)
    }

    /// Calls `run` every `period`, of which only whole milliseconds count.
    static func timer<Owner: AnyObject>(
        every period: Interval, on context: OpaquePointer, of owner: Owner, _ run: @escaping (Owner) -> Bool
    ) -> EventSource? {
        g_timeout_source_new(guint(clamping: period.milliseconds))
            .map { EventSource($0, .plain, on: context, of: owner, run) }
    }

    /// Calls `run` while a connection waits on `listener`.
    static func accepting<Owner: AnyObject>(
        _ listener: UnsafeMutablePointer<GSocket>, on context: OpaquePointer, of owner: Owner,
        _ run: @escaping (Owner) -> Bool
    ) -> EventSource? {
        g_socket_create_source(listener, G_IO_IN, nil).map { EventSource($0, .socket, on: context, of: owner, run) }
    }

    /// Calls `run` while `stream` can be read without blocking, which includes its end.
    static func readable<Owner: AnyObject>(
        _ stream: UnsafeMutablePointer<GInputStream>, on context: OpaquePointer, of owner: Owner,
        _ run: @escaping (Owner) -> Bool
    ) -> EventSource? {
        g_pollable_input_stream_create_source(OpaquePointer(stream), nil)
            .map { EventSource($0, .pollable, on: context, of: owner, run) }
    }

    /// Calls `run` while `stream` can be written without blocking.
    static func writable<Owner: AnyObject>(
        _ stream: UnsafeMutablePointer<GOutputStream>, on context: OpaquePointer, of owner: Owner,
        _ run: @escaping (Owner) -> Bool
    ) -> EventSource? {
        g_pollable_output_stream_create_source(OpaquePointer(stream), nil)
            .map { EventSource($0, .pollable, on: context, of: owner, run) }
    }
}
