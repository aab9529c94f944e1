/// The state of a share, as a desktop shows it.
public struct SharingFacts: Equatable, Sendable {
    /// The room's name, which has only letters, digits, `-`, `_` and `.`.
    public var room: String
    /// The state in a few words, such as "live" or "paused".
    public var text: String
    /// Whether viewers see a slate instead of the screen, whatever the reason.
    public var isPaused: Bool
    /// Whether the sharer has paused, so that resuming is possible.
    public var isPausedBySharer: Bool
    /// Whether a capture sends pictures or a slate.
    public var hasSource: Bool
    /// The number of viewers.
    public var viewers = 0

    /// The state of a share without viewers.
    public init(room: String, text: String, isPaused: Bool, isPausedBySharer: Bool, hasSource: Bool) {
        self.room = room
        self.text = text
        self.isPaused = isPaused
        self.isPausedBySharer = isPausedBySharer
        self.hasSource = hasSource
    }

    /// The number of viewers in words.
    var viewersText: String { viewers == 1 ? "1 viewer" : "\(viewers) viewers" }
}
