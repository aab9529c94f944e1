package import MediaTypes

/// A frame that arrived.
package struct ReceivedFrame: Sendable {
    /// The frame. Its capture time is on this machine's clock, or nil if it isn't known.
    package let coded: CodedFrame
    package let codec: TrackFormat.Codec
    package let arrival: MonotonicTime
    /// The number of video packets that were lost on this connection so far.
    package var lostPackets = 0

    package init(coded: CodedFrame, codec: TrackFormat.Codec, arrival: MonotonicTime, lostPackets: Int = 0) {
        self.coded = coded
        self.codec = codec
        self.arrival = arrival
        self.lostPackets = lostPackets
    }
}
