/// How the pointer gets to viewers.
public enum PointerMode: UInt8, Hashable, Sendable, CaseIterable {
    /// In messages of its own, from which the viewer draws it.
    case apart = 0
    /// Drawn into the pictures.
    case drawn = 1
}

/// Whether the sharer is sharing now.
public enum SharingState: UInt8, Hashable, Sendable, CaseIterable {
    /// Pictures are sent when something changes.
    case live = 0
    /// The sharer has paused.
    case paused = 1
    /// Paused because the screen is locked.
    case locked = 2
    /// What is shared, a window or a monitor, is not on the screen just now.
    case windowHidden = 3
}
