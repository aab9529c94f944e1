#pragma once
// One module for the whole GLib family: where several modules include glib.h, a struct's fields
// belong to whichever of them the compiler loaded first.
#include <glib.h>
#include <glib-object.h>
#include <glib-unix.h>
#include <gio/gio.h>
#include <libsoup/soup.h>

// libsoup: variadic constructors, casts that Swift can't import, and signals connected by name.
// Paths stay percent-encoded ("raw"), so that only one place decodes them.
static inline SoupServer *shim_soup_server_new_raw_paths(void) { return soup_server_new("raw-paths", TRUE, NULL); }
// No proxy and no redirect is ever asked for a link that its user typed; `seconds` bounds each read and write. All connections go to
// `place`, unless it is NULL.
static inline SoupSession *shim_soup_session_new_direct(guint seconds, GSocketConnectable *place) {
    return soup_session_new_with_options(
        "proxy-resolver", NULL, "timeout", seconds, "remote-connectable", place, NULL);
}
// The place of a numeric address, to be freed by g_object_unref; NULL for a name.
static inline GSocketConnectable *shim_numeric_place(const char *host, guint16 port) {
    return (GSocketConnectable *)g_inet_socket_address_new_from_string(host, port);
}
static inline gulong shim_g_signal_connect(gpointer object, const char *signal, GCallback handler, gpointer data) {
    return g_signal_connect(object, signal, handler, data);
}
static inline GQuark shim_g_io_error_quark(void) { return G_IO_ERROR; }
// Closing TLS says so to the peer, and waits until that is read: with what we send ended before it, nothing waits. What is on its
// way arrives all the same. Does nothing to a stream without TLS.
static inline void shim_end_sending(GIOStream *stream) {
    GIOStream *base = NULL;
    if (!G_IS_TLS_CONNECTION(stream)) return;
    g_object_get(stream, "base-io-stream", &base, NULL);
    if (G_IS_SOCKET_CONNECTION(base)) {
        GSocket *socket = g_socket_connection_get_socket(G_SOCKET_CONNECTION(base));
        g_socket_shutdown(socket, FALSE, TRUE, NULL);
    }
    g_clear_object(&base);
}
// The host of an internet socket address in text, to be freed by g_free; NULL for any other address.
static inline char *shim_g_socket_address_host(GSocketAddress *a) {
    if (!G_IS_INET_SOCKET_ADDRESS(a)) return NULL;
    return g_inet_address_to_string(g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(a)));
}
static inline guint16 shim_g_socket_address_port(GSocketAddress *a) {
    return G_IS_INET_SOCKET_ADDRESS(a) ? g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(a)) : 0;
}
// The stream to read and write, which belongs to the connection: TLS where a client asked for it, else the connection itself.
static inline GIOStream *shim_stream_of_connection(GSocketConnection *c) {
    if (G_IS_TCP_WRAPPER_CONNECTION(c)) return g_tcp_wrapper_connection_get_base_io_stream(G_TCP_WRAPPER_CONNECTION(c));
    return G_IO_STREAM(c);
}
// The address of the other end of a socket's connection in text, to be freed by g_free; NULL if it has none.
static inline char *shim_remote_host(gpointer connection) {
    if (!G_IS_SOCKET_CONNECTION(connection)) return NULL;
    GSocketAddress *address = g_socket_connection_get_remote_address(G_SOCKET_CONNECTION(connection), NULL);
    char *host = address ? shim_g_socket_address_host(address) : NULL;
    g_clear_object(&address);
    return host;
}
// Closes a connection at once, whoever else uses it.
static inline void shim_close_socket(gpointer connection) {
    if (G_IS_SOCKET_CONNECTION(connection)) {
        g_socket_close(g_socket_connection_get_socket(G_SOCKET_CONNECTION(connection)), NULL);
    }
}
