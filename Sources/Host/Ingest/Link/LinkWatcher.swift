public import MediaTypes
import Synchronization

/// Follows one connection of the link, for the code that started the capture at its other end.
///
/// Any thread may call any method.
public final class LinkWatcher: Sendable {
    /// An event of the connection.
    public enum Event: Sendable, Equatable {
        /// The capture has become the track's source.
        case arrived
        /// Its pictures have this size from now on.
        case size(PictureSize)
        /// It has sent nothing for this long although it should send a picture every 2.5 s while pictures are wanted,
        /// or, as a capture of sound, has not answered a ping: it hangs.
        case silent(Interval)
    }

    let onEvent: @Sendable (Event) -> Void
    private let explanation = Mutex<String?>(nil)

    /// - Parameter onEvent: called on the link's thread; must not block.
    public init(onEvent: @escaping @Sendable (Event) -> Void) {
        self.onEvent = onEvent
    }

    /// Sets the reason that viewers are told when the connection ends, instead of the one that the link itself sees.
    public func explainEnd(_ text: String) {
        explanation.withLock { $0 = text }
    }

    var endReason: String? { explanation.withLock { $0 } }
}
