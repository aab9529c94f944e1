import CPipeWire
import Glibc

/// Reports which objects PipeWire has, and which are removed.
///
/// Everything happens in ``PipeWireConnection/iterate()``. Must be released before the connection. Not thread-safe.
final class RegistryWatch {
    private let onObject: (_ properties: UnsafePointer<spa_dict>?) -> Void
    private let onRemoval: (_ id: UInt32) -> Void
    private let registry: OpaquePointer
    private let events = UnsafeMutablePointer<pw_registry_events>.allocate(capacity: 1)
    private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)

    /// Starts to watch.
    ///
    /// - Parameters:
    ///   - onObject: gets the properties of each object, first of those that there are.
    ///   - onRemoval: gets the number of an object that is gone.
    /// - Throws: `library` if there is no memory.
    init(
        _ connection: PipeWireConnection, onObject: @escaping (UnsafePointer<spa_dict>?) -> Void = { _ in },
        onRemoval: @escaping (UInt32) -> Void = { _ in }
    ) throws(CastError) {
        guard let registry = shim_pw_registry(connection.core) else {
            throw .library(call: "pw_core_get_registry", code: errno)
        }
        self.onObject = onObject
        self.onRemoval = onRemoval
        self.registry = registry
        events.initialize(to: pw_registry_events())
        hook.initialize(to: spa_hook())
        events.pointee.version = UInt32(PW_VERSION_REGISTRY_EVENTS)
        events.pointee.global = { context, _, _, _, _, properties in RegistryWatch.of(context)?.onObject(properties) }
        events.pointee.global_remove = { context, id in RegistryWatch.of(context)?.onRemoval(id) }
        shim_pw_registry_listen(registry, hook, events, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        spa_hook_remove(hook)
        pw_proxy_destroy(registry)
        events.deallocate()
        hook.deallocate()
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> RegistryWatch? {
        context.map { Unmanaged<RegistryWatch>.fromOpaque($0).takeUnretainedValue() }
    }
}
