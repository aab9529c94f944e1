import Ingest
import Signalling
public import TrackHub

extension ScreenRelayHost {
    /// Makes every capture encode the static parts of its screen again, with higher quality. Returns false if no
    /// capture is connected.
    @discardableResult
    public func sharpen() -> Bool {
        // Ask all of them, even after the first true.
        tracks.map { $0.ingest.sharpen() }.contains(true)
    }

    /// Whether viewers with a name may point at the pictures with a dot that the other viewers see. At first they may.
    public var allowsPointing: Bool { signalling.allowsPointing }

    /// Allows viewers in all rooms to point at the pictures, or forbids it and removes their dots.
    public func allowPointing(_ isAllowed: Bool) { signalling.allowPointing(isAllowed) }

    /// Whether viewers with a name may write in the chat. At first they may.
    public var allowsChat: Bool { signalling.allowsChat }

    /// Allows viewers in all rooms to write in the chat, or forbids it and deletes all messages.
    public func allowChat(_ isAllowed: Bool) { signalling.allowChat(isAllowed) }

    /// The part of `limits` that no source keeps to: publishers, and a `Pull` that passes frames on, ignore limits.
    /// Empty while there is no source.
    public func ignored(of limits: SourceLimits) -> SourceOrders {
        let sources = tracks.compactMap { $0.ingest.hub.source }
        guard !sources.isEmpty else { return [] }
        var ignored: SourceOrders = []
        if limits.frameRate != nil { ignored.insert(.frameRate) }
        if limits.bitRate != nil { ignored.insert(.bitRate) }
        return sources.reduce(ignored) { $0.subtracting($1.obeys) }
    }
}
