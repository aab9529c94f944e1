import CGLib

/// A listening socket, from bind to close, or one that another process has bound and passed on.
///
/// It is bound on the thread that starts the server, so that errors can be thrown there. The `Sendable` conformance is
/// unchecked, because after that only the site's thread uses the socket.
package final class ListeningSocket: @unchecked Sendable {
    let socket: UnsafeMutablePointer<GSocket>
    /// The address, with the port that the system chose if it was asked to.
    let address: ListenAddress

    /// Listens on `wanted`.
    package init(_ wanted: ListenAddress) throws(SignallingError) {
        GLibTypes.make()
        var error: UnsafeMutablePointer<GError>?
        if let descriptor = wanted.descriptor {
            guard let socket = g_socket_new_from_fd(descriptor, &error) else { throw Self.failure(&error, wanted) }
            g_socket_set_blocking(socket, 0)
            self.socket = socket
            address = ListenAddress(address: wanted.address, port: wanted.port)
            return
        }
        let literal = wanted.address == "localhost" ? "127.0.0.1" : wanted.address
        guard let socketAddress = g_inet_socket_address_new_from_string(literal, guint(wanted.port)) else {
            throw .notAnAddress(wanted.address)
        }
        defer { g_object_unref(socketAddress) }
        guard
            let socket = g_socket_new(
                g_socket_address_get_family(socketAddress), G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, &error)
        else { throw Self.failure(&error, wanted) }
        g_socket_set_blocking(socket, 0)
        g_socket_set_listen_backlog(socket, 128)
        guard g_socket_bind(socket, socketAddress, 1, &error) != 0, g_socket_listen(socket, &error) != 0,
            let bound = g_socket_get_local_address(socket, &error)
        else {
            g_object_unref(socket)
            throw Self.failure(&error, wanted)
        }
        address = ListenAddress(address: wanted.address, port: shim_g_socket_address_port(bound))
        g_object_unref(bound)
        self.socket = socket
    }

    deinit {
        close()
        g_object_unref(socket)
    }

    /// Releases the port. Further calls do nothing.
    package func close() {
        g_socket_close(socket, nil)
    }

    private static func failure(
        _ error: inout UnsafeMutablePointer<GError>?, _ address: ListenAddress
    ) -> SignallingError {
        defer { g_clear_error(&error) }
        guard let error else { return .cannotListen(address, reason: "unknown reason") }
        switch GIOErrorEnum(UInt32(bitPattern: error.pointee.code)) {
        case G_IO_ERROR_ADDRESS_IN_USE: return .occupied(address)
        case G_IO_ERROR_PERMISSION_DENIED: return .notPermitted(address)
        default: break
        }
        let reason = String(cString: error.pointee.message)
        return reason.contains("assign requested address") ? .notOurs(address) : .cannotListen(address, reason: reason)
    }
}
