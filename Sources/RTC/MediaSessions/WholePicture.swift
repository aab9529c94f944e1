/// A coded picture for a viewer that gets pictures whole and in order, rather than packets that may be lost.
public struct WholePicture: Sendable {
    /// 1 for the session's first picture, one more for each that follows.
    public let number: UInt32
    /// Whether decoding can begin here.
    public let isKeyPicture: Bool
    /// Whether the pointer is drawn into it, or would be if it were on the screen.
    public let isPointerDrawn: Bool
    /// When it was captured, in microseconds since 1970 on the clock of abs-capture-time; when it reached the host if
    /// the source doesn't report it.
    public let captureTime: Int64
    /// The access unit, H.264 in Annex B format with start codes of four bytes. A key picture begins with SPS and PPS.
    public let bytes: [UInt8]
    /// Returns whether it may still be shown: not if the sharer has paused since. May be called on any thread.
    public let isShown: @Sendable () -> Bool

    public init(
        number: UInt32, isKeyPicture: Bool, isPointerDrawn: Bool, captureTime: Int64, bytes: [UInt8],
        isShown: @escaping @Sendable () -> Bool
    ) {
        self.number = number
        self.isKeyPicture = isKeyPicture
        self.isPointerDrawn = isPointerDrawn
        self.captureTime = captureTime
        self.bytes = bytes
        self.isShown = isShown
    }
}
