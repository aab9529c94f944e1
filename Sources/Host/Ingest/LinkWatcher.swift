public import MediaTypes
import Synchronization

/// Follows one connection of the link, for whoever has started the capture at its other end.
///
/// Any thread may call any method.
public final class LinkWatcher: Sendable {
    /// What happens at the connection.
    public enum Event: Sendable, Equatable {
        /// The capture has become the track's source.
        case arrived
        /// Its pictures have this size from now on.
        case size(PictureSize)
        /// It has sent nothing for so long although pictures are wanted, and it sends one each 2.5 s then: it hangs.
        case silent(Interval)
    }

    let onEvent: @Sendable (Event) -> Void
    private let explanation = Mutex<String?>(nil)

    /// - Parameter onEvent: called on the link's thread; must not block.
    public init(onEvent: @escaping @Sendable (Event) -> Void) {
        self.onEvent = onEvent
    }

    /// Why the connection is about to end, in words for viewers: instead of what the link sees of it.
    public func explainEnd(_ text: String) {
        explanation.withLock { $0 = text }
    }

    var endReason: String? { explanation.withLock { $0 } }
}
