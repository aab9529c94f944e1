import CPipeWire
import Glibc
import LinkTransport

/// A connection to PipeWire by a descriptor, and the loop that serves it. The loop runs on the thread that creates the
/// connection, and only in `iterate`. Not thread-safe.
final class PipeWireConnection {
    /// The connection, a `pw_core`.
    let core: OpaquePointer
    /// Readable when `iterate` has something to do, or a descriptor that is watched is readable.
    let fileDescriptor: Int32
    private let loop: UnsafeMutablePointer<pw_loop>
    private let context: OpaquePointer
    /// Whether a watched descriptor was readable.
    private let hasNews: UnsafeMutablePointer<Bool>

    /// Connects by `remote`.
    ///
    /// libpipewire reads its configuration and loads its modules here, and opens nothing later. Since 1.2 it serves the
    /// stream on this thread; before, a thread of its own passes buffers on.
    ///
    /// - Throws: `library` if it can't be set up, `remote` if the descriptor isn't a connection to PipeWire.
    init(remote: consuming FileDescriptor) throws(CastError) {
        pw_init(nil, nil)
        guard let loop = pw_loop_new(nil) else {
            let code = errno
            pw_deinit()
            throw .library(call: "pw_loop_new", code: code)
        }
        shim_pw_loop_enter(loop)
        // The context owns the properties.
        let properties = pw_properties_new_string("context.num-data-loops = 0, module.rt = false")
        guard let context = pw_context_new(loop, properties, 0) else {
            let code = errno
            Self.close(loop)
            throw .library(call: "pw_context_new", code: code)
        }
        // libpipewire owns the descriptor from here on.
        guard let core = pw_context_connect_fd(context, remote.release(), nil, 0) else {
            let code = errno
            pw_context_destroy(context)
            Self.close(loop)
            throw .remote(code: code)
        }
        self.loop = loop
        self.context = context
        self.core = core
        fileDescriptor = shim_pw_loop_descriptor(loop)
        hasNews = .allocate(capacity: 1)
        hasNews.initialize(to: false)
    }

    deinit {
        // This disconnects as well.
        pw_context_destroy(context)
        Self.close(loop)
        hasNews.deallocate()
    }

    private static func close(_ loop: UnsafeMutablePointer<pw_loop>) {
        shim_pw_loop_leave(loop)
        pw_loop_destroy(loop)
        pw_deinit()
    }

    /// Makes `fileDescriptor` readable whenever `other` is, which the caller reads from if `takeNews` says so. A
    /// descriptor that is closed is no longer watched.
    func watch(_ other: Int32) {
        shim_pw_loop_watch(loop, other, hasNews)
        hasNews.pointee = true
    }

    /// Whether a watched descriptor was readable in `iterate` since the last call, or is newly watched.
    func takeNews() -> Bool {
        defer { hasNews.pointee = false }
        return hasNews.pointee
    }

    /// Handles what has arrived. Never waits; what is left keeps `fileDescriptor` readable.
    func iterate() { _ = shim_pw_loop_iterate(loop) }
}
