public import MediaTypes

/// A frame and its division into packets. It is made once for a track and shared by all its sessions, which add their
/// own headers. A class, because each session refers to it for each of its packets: copies of the parts would count
/// references to all of them.
public final class PacketizedFrame: Sendable {
    /// The frame that the packets take their bytes from.
    public let coded: CodedFrame
    /// The payloads in sending order. Empty only for a frame without units, and for sound that fits into no packet.
    public let packets: [RTPPayload]
    /// The time at which it is to be shown, on the track's timeline.
    public let mediaTime: MediaTime
    /// The track's format at this frame.
    public let format: TrackFormat
    /// The total size of all payloads.
    public let payloadByteCount: Int

    init(coded: CodedFrame, packets: [RTPPayload], mediaTime: MediaTime, format: TrackFormat, payloadByteCount: Int) {
        self.coded = coded
        self.packets = packets
        self.mediaTime = mediaTime
        self.format = format
        self.payloadByteCount = payloadByteCount
    }

    /// Whether decoding can begin here.
    public var isRandomAccess: Bool { coded.isRandomAccess }
    /// The time at which the frame was captured; nil if the source doesn't know it.
    public var captureTime: MonotonicTime? { coded.captureTime }
}
