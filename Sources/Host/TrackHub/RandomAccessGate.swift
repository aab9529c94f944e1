/// Drops frames up to the next random access frame, once some were lost.
public struct RandomAccessGate: Sendable {
    /// Whether frames are dropped now.
    public private(set) var isClosed: Bool

    /// A gate that is closed or open.
    public init(isClosed: Bool) {
        self.isClosed = isClosed
    }

    /// Begins to drop frames.
    public mutating func close() { isClosed = true }

    /// Opens before a random access frame. Returns whether a frame passes.
    public mutating func passes(isRandomAccess: Bool) -> Bool {
        if isRandomAccess { isClosed = false }
        return !isClosed
    }
}
