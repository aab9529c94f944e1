import CLinux
import Glibc

/// Begins to connect to a port of a numeric address over TCP, without waiting.
///
/// - Parameter unsent: about how many bytes the kernel keeps that it hasn't sent yet, so that old media don't queue
///   there.
/// - Returns: a non-blocking socket that sends small writes at once. It becomes writable once it is connected or has
///   failed, which ``connectionError(of:)`` reports. Nil if it failed at once, or if `host` isn't numeric.
package func connectingSocket(to host: String, port: UInt16, unsent: Int32) -> FileDescriptor? {
    guard case .success(let found) = NetworkAddress.resolve(host: host, port: port, isNumeric: true),
        let address = found.first
    else { return nil }
    do throws(SocketError) {
        let socket = try address.makeSocket()
        let number = socket.rawValue
        for (name, value) in [(shim_TCP_NODELAY, 1), (shim_TCP_NOTSENT_LOWAT, unsent)] as [(Int32, Int32)] {
            var value = value
            try systemCall("setsockopt") {
                setsockopt(number, Int32(IPPROTO_TCP), name, &value, socklen_t(MemoryLayout<Int32>.size))
            }
        }
        // Not repeated after EINTR, because the attempt continues in the background, as after EINPROGRESS.
        let code = address.withSockaddr { Glibc.connect(number, $0, $1) } == 0 ? 0 : errno
        guard [0, EINPROGRESS, EINTR].contains(code) else { return nil }
        return socket
    } catch {
        return nil
    }
}

/// Why a socket that became writable isn't connected, as `errno`; 0 if it is.
package func connectionError(of descriptor: Int32) -> Int32 {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
}
