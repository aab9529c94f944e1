import Glibc
import MediaTypes

/// A window that shows pictures, with the page's keys: `w` and `0` fit them into the window, `1` shows them in their own
/// size, and `f` toggles full screen, which Escape leaves.
///
/// For one thread, which waits for ``entry``. The window appears with the first picture.
protocol ViewWindow: AnyObject {
    /// What is waited for: what the display's server sends.
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

/// Makes a window on the X display with this name, or on DISPLAY's if it is nil. Throws if there is none, or if it lacks
/// what is needed.
func makeViewWindow(display: String?) throws(ViewEnd) -> any ViewWindow {
    try X11Window(display: display)
}
