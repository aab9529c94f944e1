import Glibc
import MediaTypes
import Threading

/// A window that shows pictures, with the page's keys: `w` and `0` fit them into the window, `1` shows them in their
/// own size, and `f` toggles full screen, which Escape leaves.
///
/// For one thread, which waits for ``entry``. The window appears with the first picture.
///
/// There is one for X11 and one for Wayland, each with the system's own library, instead of one with SDL: SDL has no
/// descriptor to wait for beside those of the connection and the signals, so a run would poll it or need a thread, and
/// it would add the libraries of sound, GPU and gamepads to the program.
protocol ViewWindow: AnyObject {
    /// What is waited for: what the display's server sends, and room for requests if there was none.
    var entry: pollfd { get }

    /// Shows `picture` instead of the one before.
    func show(_ picture: I420Picture)

    /// Handles all events that have arrived, and draws. Call it after each wait and each picture. A server that is too
    /// slow for all pictures gets the newest.
    func handleEvents() -> ViewWindowState
}

/// The state of a window after its events.
enum ViewWindowState {
    case open
    /// The user has closed it.
    case closed
    /// Nothing can be shown any more, for example because the display's server is gone.
    case failed(ViewEnd)
}

/// Makes a window on the X display with this name; or, if it is nil, on the Wayland compositor of WAYLAND_DISPLAY if
/// that answers within 5 s, else on the X display of DISPLAY. Throws if there is none of them, or if it lacks what is
/// needed.
///
/// - Parameter log: gets a line if a compositor hangs.
func makeViewWindow(display: String?, log: EventLog) throws(ViewEnd) -> any ViewWindow {
    if display != nil { return try X11Window(display: display) }
    let connection: WaylandConnection
    do throws(WaylandConnection.Failure) {
        connection = try WaylandConnection()
    } catch {
        let window = try X11Window(display: nil, without: error)
        if error == .silent {
            log.warning("\(WaylandConnection.Failure.silent); the window is on the X display of DISPLAY")
        }
        return window
    }
    return try WaylandWindow(on: connection)
}
