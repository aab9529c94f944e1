package import CGLib

/// Whether GLib found no connection because no server listens at the address.
package func isRefusedConnection(_ error: UnsafeMutablePointer<GError>) -> Bool {
    g_error_matches(error, shim_g_io_error_quark(), gint(G_IO_ERROR_CONNECTION_REFUSED.rawValue)) != 0
}
