import CPipeWire
import Glibc

/// Reports the removal of a PipeWire node. WirePlumber 0.4 ends the streams of such a node, but 0.5 leaves them paused.
///
/// Everything happens in ``PipeWireConnection/iterate()``. Must be released before the connection. Not thread-safe.
final class NodeWatch {
    private let node: UInt32
    private let onRemoval: () -> Void
    private let registry: OpaquePointer
    private let events = UnsafeMutablePointer<pw_registry_events>.allocate(capacity: 1)
    private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)

    /// Watches `node`.
    ///
    /// - Throws: `library` if there is no memory.
    init(_ connection: PipeWireConnection, node: UInt32, onRemoval: @escaping () -> Void) throws(CastError) {
        guard let registry = shim_pw_registry(connection.core) else {
            throw .library(call: "pw_core_get_registry", code: errno)
        }
        (self.node, self.onRemoval, self.registry) = (node, onRemoval, registry)
        events.initialize(to: pw_registry_events())
        hook.initialize(to: spa_hook())
        events.pointee.version = UInt32(PW_VERSION_REGISTRY_EVENTS)
        events.pointee.global_remove = { context, id in
            guard let context else { return }
            Unmanaged<NodeWatch>.fromOpaque(context).takeUnretainedValue().removed(id)
        }
        shim_pw_registry_listen(registry, hook, events, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        spa_hook_remove(hook)
        pw_proxy_destroy(registry)
        events.deallocate()
        hook.deallocate()
    }

    private func removed(_ id: UInt32) {
        if id == node { onRemoval() }
    }
}
