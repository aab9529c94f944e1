import Synchronization

/// What the host's user allows viewers to do. These may be used from any thread.
extension SignallingServer {
    /// Whether viewers with a name may point at the pictures with a dot that the other viewers see. At first they may.
    public var allowsPointing: Bool { pointing.isAllowed.load(ordering: .relaxed) }

    /// Allows viewers to point at the pictures, or forbids it and removes all dots. Pages are notified.
    public func allowPointing(_ isAllowed: Bool) {
        pointing.isAllowed.store(isAllowed, ordering: .relaxed)
        post { $0.pointing.update() }
    }

    /// How many messages of viewers who point have been dropped so far, because they sent too many.
    public var droppedPoints: Int { pointing.dropped.load(ordering: .relaxed) }

    /// Whether viewers with a name may write in the chat, and all viewers read it. At first they may.
    public var allowsChat: Bool { chat.isAllowed.load(ordering: .relaxed) }

    /// Allows viewers to write in the chat, or forbids it and forgets all messages. Pages are notified.
    public func allowChat(_ isAllowed: Bool) {
        chat.isAllowed.store(isAllowed, ordering: .relaxed)
        post { $0.chat.carryOut(isAllowed: isAllowed) }
    }

    /// How many chat messages have been refused so far, because their viewers or their rooms sent too many.
    public var droppedChatMessages: Int { chat.dropped.load(ordering: .relaxed) }
}
