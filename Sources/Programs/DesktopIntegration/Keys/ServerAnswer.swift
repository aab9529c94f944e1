import CXCB
import Clocks
import Glibc
import MediaTypes
import Threading

/// Waits for the X server's reply to a request, at most until `deadline`: libxcb's own functions wait for as long as a
/// server hangs. Returns nil if there is no reply by then, if the server refuses, or if the connection has ended. The
/// caller frees the reply.
func serverReply<Reply>(
    of type: Reply.Type, to sequence: UInt32, on connection: OpaquePointer, until deadline: MonotonicTime
) -> UnsafeMutablePointer<Reply>? {
    xcb_flush(connection)
    while true {
        var reply: UnsafeMutableRawPointer?
        var error: UnsafeMutablePointer<xcb_generic_error_t>?
        if xcb_poll_for_reply(connection, sequence, &reply, &error) != 0 {
            free(error)
            return reply?.assumingMemoryBound(to: type)
        }
        if xcb_connection_has_error(connection) != 0 || MonotonicTime.now() >= deadline { return nil }
        waitForEvents(on: xcb_get_file_descriptor(connection), until: deadline)
    }
}
