/// Drops frames up to the next random access frame after some were lost.
public struct RandomAccessGate: Sendable {
    /// Whether frames are dropped now.
    public private(set) var isClosed: Bool

    /// A gate that is closed or open.
    public init(isClosed: Bool) {
        self.isClosed = isClosed
    }

    /// Begins to drop frames.
    public mutating func close() { isClosed = true }

    /// Returns whether a frame passes. A random access frame opens the gate, and passes.
    public mutating func passes(isRandomAccess: Bool) -> Bool {
        if isRandomAccess { isClosed = false }
        return !isClosed
    }
}
