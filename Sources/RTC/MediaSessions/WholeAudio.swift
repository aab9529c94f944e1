/// A coded packet of sound for a viewer that gets pictures whole, beside these.
public struct WholeAudio: Sendable {
    /// When its first sample was captured, on the clock of ``WholePicture/captureTime``.
    public let captureTime: Int64
    /// The Opus packet (RFC 6716 section 3), as the track has it.
    public let bytes: [UInt8]
    /// Returns whether it may still be heard: not if the sharer has muted or paused since. May be called on any thread.
    public let isHeard: @Sendable () -> Bool

    public init(captureTime: Int64, bytes: [UInt8], isHeard: @escaping @Sendable () -> Bool) {
        self.captureTime = captureTime
        self.bytes = bytes
        self.isHeard = isHeard
    }
}
