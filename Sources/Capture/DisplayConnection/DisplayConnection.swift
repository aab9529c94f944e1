import CXCB
import Clocks
package import MediaTypes
import Synchronization
import Threading

/// A connection to an X server, as libxcb makes it.
package enum DisplayConnection {
    /// How long a server may take to accept a connection.
    package static let timeout = Interval.seconds(5)

    /// Connects to `display`, or to DISPLAY's if it is nil. Waits at most `limit`: libxcb's own function waits for as
    /// long as a server hangs that has accepted the socket's connection and doesn't answer, and signals don't
    /// interrupt it.
    ///
    /// After the limit, the attempt goes on in a thread of its own until the server answers or ends.
    ///
    /// - Returns: the connection, which may have an error (`xcb_connection_has_error`) and which the caller has to
    ///   disconnect, and the number of the screen that the display's name has; nil if there was no answer.
    package static func open(
        _ display: String?, within limit: Interval = timeout
    ) -> (handle: OpaquePointer, screen: Int32)? {
        let attempt = Attempt()
        guard let thread = NamedThread("x11 connect", blocksSignals: true, body: { attempt.run(display) }) else {
            // The system has no thread left, and little else will work.
            attempt.run(display)
            return attempt.result()
        }
        // A thread that has ended leaves the process as it was: confinement is entered afterwards, for each thread.
        thread.join(until: MonotonicTime.now() + limit)
        return attempt.result()
    }

    /// One attempt, of which the result is used or, if it is late, given up.
    private final class Attempt: Sendable {
        private struct State {
            /// The connection's address.
            var handle: UInt?
            var screen: Int32 = 0
            var isAbandoned = false
        }

        private let state = Mutex(State())

        func run(_ display: String?) {
            var screen: Int32 = 0
            let handle = xcb_connect(display, &screen)
            let isAbandoned = state.withLock { state in
                if !state.isAbandoned { (state.handle, state.screen) = (UInt(bitPattern: handle), screen) }
                return state.isAbandoned
            }
            if isAbandoned, let handle { xcb_disconnect(handle) }
        }

        /// What has been connected; if it is nothing yet, it will be given up.
        func result() -> (handle: OpaquePointer, screen: Int32)? {
            let (address, screen) = state.withLock { state in
                if state.handle == nil { state.isAbandoned = true }
                return (state.handle, state.screen)
            }
            return address.flatMap { OpaquePointer(bitPattern: $0) }.map { ($0, screen) }
        }
    }
}
