import Glibc
import MediaTypes

/// A key that pauses and resumes, whatever window has the focus. It is released with the object.
protocol SharersKey: AnyObject {
    /// What to poll.
    var entry: pollfd { get }
    /// When ``handleEvents()`` has something to do even if nothing arrives.
    var deadline: MonotonicTime { get }
    /// Handles what has arrived. Returns how often the key was pressed.
    ///
    /// - Throws: a ``KeyProblem`` if the key can't be used, or no longer.
    func handleEvents() throws -> Int
}

/// Why a key can't be used.
protocol KeyProblem: Error, CustomStringConvertible {
    /// Whether the key may work again once the screen is captured again.
    var isTemporary: Bool { get }
}
