import Glibc

/// The socket of this session's PipeWire, over which the pictures of a screen cast come.
public enum PipeWireSocket {
    /// Checks that PipeWire takes connections; does nothing if the environment doesn't say where it is.
    ///
    /// Without PipeWire, a portal fails to start a session as if it had refused it, and the restore token is used up.
    /// The user would have to be asked again.
    ///
    /// - Parameter environment: returns the value of a variable.
    /// - Throws: `noPipeWire`.
    public static func check(environment: (String) -> String?) throws(PortalError) {
        guard let path = path(environment: environment) else { return }
        guard let socket = connectedSocket(to: path) else { throw .noPipeWire(path: path) }
        close(socket)
    }

    /// Where the socket is; nil if the environment doesn't say that.
    static func path(environment: (String) -> String?) -> String? {
        guard let folder = environment("PIPEWIRE_RUNTIME_DIR") ?? environment("XDG_RUNTIME_DIR"), !folder.isEmpty
        else { return nil }
        return folder + "/pipewire-0"
    }
}

/// Returns a nonblocking socket that is connected to the Unix socket at `path`, which the caller closes; nil if nothing
/// listens there.
func connectedSocket(to path: String) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // The last byte stays 0.
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let socket = socket(AF_UNIX, type, 0)
    guard socket >= 0 else { return nil }
    let isConnected = withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
    }
    if isConnected { return socket }
    close(socket)
    return nil
}
