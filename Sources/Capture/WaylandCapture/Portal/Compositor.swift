import Clocks
import Glibc
import MediaTypes
import Threading

/// The Wayland compositor of this session, to which nothing is shown.
public enum Compositor {
    /// Some sessions keep the socket while they start a compositor again.
    private static let timeout = Interval.seconds(1)

    /// Checks that the compositor answers; does nothing if `WAYLAND_DISPLAY` isn't set. Waits at most 1 s.
    ///
    /// Without a compositor, a portal fails to start a session as if it had refused it, and the restore token is used
    /// up. The user would have to be asked again.
    ///
    /// - Parameter environment: returns the value of a variable.
    /// - Throws: `noCompositor`.
    public static func check(environment: (String) -> String?) throws(PortalError) {
        guard let path = path(environment: environment) else { return }
        guard isAnswering(at: path) else { throw .noCompositor(path: path) }
    }

    /// Returns the path of its socket; nil if `WAYLAND_DISPLAY` isn't set.
    static func path(environment: (String) -> String?) -> String? {
        guard let display = environment("WAYLAND_DISPLAY"), !display.isEmpty else { return nil }
        return display.hasPrefix("/") ? display : (environment("XDG_RUNTIME_DIR") ?? "") + "/" + display
    }

    private static func isAnswering(at path: String) -> Bool {
        guard let socket = connectedSocket(to: path) else { return false }
        defer { close(socket) }
        // wl_display.sync: the object 1, 12 bytes and the request 0, and the object 2, which reports that all is done.
        let request: [UInt32] = [1, 12 << 16, 2]
        let bytes = request.count * MemoryLayout<UInt32>.size
        guard send(socket, request, bytes, Int32(MSG_NOSIGNAL)) == bytes else { return false }
        let end = MonotonicTime.now() + timeout
        repeat {
            var first: UInt8 = 0
            let count = recv(socket, &first, 1, 0)
            if count >= 0 { return count > 0 }
            guard errno == EAGAIN || errno == EINTR else { return false }
            waitForEvents(on: socket, until: end)
        } while MonotonicTime.now() < end
        return false
    }
}
