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
        let found = try? look(through: PipeWireConnection(remote: FileDescriptor(owning: socket)))
        // PipeWire itself is one of the objects.
        guard let found, found.hasObjects else { throw .noPipeWire(path: path) }
        return found.hasManager
    }

    private static func look(
        through connection: PipeWireConnection
    ) throws(CastError) -> (hasObjects: Bool, hasManager: Bool) {
        var found = (hasObjects: false, hasManager: false)
        let watch = try RegistryWatch(connection) { properties in
            found.hasObjects = true
            if shim_is_default_metadata(properties) { found.hasManager = true }
        }
        let end = MonotonicTime.now() + .seconds(1)
        while !found.hasManager {
            let rest = end - MonotonicTime.now()
            guard rest > .zero else { break }
            var descriptor = pollfd(fd: connection.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&descriptor, 1, Int32(rest.milliseconds) + 1)
            connection.iterate()
        }
        withExtendedLifetime(watch) {}
        return found
    }
}
