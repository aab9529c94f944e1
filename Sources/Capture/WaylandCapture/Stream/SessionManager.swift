import CPipeWire
import Clocks
import Glibc
import LinkTransport
import MediaTypes

/// The session manager of a PipeWire, such as WirePlumber: it connects a screen cast with its receiver.
public enum SessionManager {
    /// Whether the PipeWire at this session's socket has one; true if the environment doesn't say where that is.
    ///
    /// Each session manager keeps the metadata "default" there. Waits for it a second at most, on this thread.
    ///
    /// - Parameter environment: returns the value of a variable.
    /// - Throws: `noPipeWire` if nothing listens there, or nothing answers.
    public static func isThere(environment: (String) -> String?) throws(PortalError) -> Bool {
        guard let path = PipeWireSocket.path(environment: environment) else { return true }
        guard let socket = connectedSocket(to: path) else { throw .noPipeWire(path: path) }
        do throws(CastError) {
            let search = try Search(PipeWireConnection(remote: FileDescriptor(owning: socket)))
            if search.isFound(within: .seconds(1)) { return true }
            if search.hasAnswer { return false }
        } catch {}
        throw .noPipeWire(path: path)
    }

    /// Looks through what PipeWire has.
    private final class Search {
        /// Whether PipeWire has named anything, as it does at once.
        private(set) var hasAnswer = false
        private var isFound = false
        private let connection: PipeWireConnection
        private let registry: OpaquePointer
        private let events = UnsafeMutablePointer<pw_registry_events>.allocate(capacity: 1)
        private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)

        init(_ connection: PipeWireConnection) throws(CastError) {
            guard let registry = shim_pw_registry(connection.core) else {
                throw .library(call: "pw_core_get_registry", code: errno)
            }
            (self.connection, self.registry) = (connection, registry)
            events.initialize(to: pw_registry_events())
            hook.initialize(to: spa_hook())
            events.pointee.version = UInt32(PW_VERSION_REGISTRY_EVENTS)
            events.pointee.global = { context, _, _, _, _, properties in
                guard let context else { return }
                let search = Unmanaged<Search>.fromOpaque(context).takeUnretainedValue()
                search.hasAnswer = true
                if shim_is_default_metadata(properties) { search.isFound = true }
            }
            shim_pw_registry_listen(registry, hook, events, Unmanaged.passUnretained(self).toOpaque())
        }

        // The connection goes after this.
        deinit {
            spa_hook_remove(hook)
            pw_proxy_destroy(registry)
            events.deallocate()
            hook.deallocate()
        }

        func isFound(within limit: Interval) -> Bool {
            let end = MonotonicTime.now() + limit
            while !isFound {
                let rest = end - MonotonicTime.now()
                guard rest > .zero else { break }
                var descriptor = pollfd(fd: connection.fileDescriptor, events: Int16(POLLIN), revents: 0)
                poll(&descriptor, 1, Int32(rest.milliseconds) + 1)
                connection.iterate()
            }
            return isFound
        }
    }
}
