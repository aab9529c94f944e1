import CGLib

/// GLib's types, which it makes when they are first used.
///
/// GLib 2.74 may stand still for good if two threads do that at the same time: each waits for a lock of the other's,
/// one for a class and one for the types that the class uses. So one thread makes all of them first. Whatever may be
/// the first to use GLib's connections calls `make`.
package enum GLibTypes {
    /// Makes them. Further calls do nothing, but wait for the first one. Any thread.
    package static func make() { _ = haveTLS }

    /// Whether GLib has TLS, which is a module of its own.
    package static let haveTLS: Bool = {
        for type in [
            g_socket_client_get_type(), g_socket_get_type(), g_inet_socket_address_get_type(),
            g_tcp_connection_get_type(), soup_server_get_type(), soup_session_get_type(), soup_message_get_type(),
        ] {
            // Never released, so that it isn't made again.
            _ = g_type_class_ref(type)
        }
        // Asking loads the modules, which have types too.
        return g_tls_backend_supports_tls(g_tls_backend_get_default()) != 0
    }()
}
