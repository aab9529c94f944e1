public import MediaTypes

extension RTPStream {
    /// A frame as a stream sends it: the packets that all sessions share, and the facts that differ between sessions.
    public struct Frame: Sendable {
        /// The frame's packets, and its time on the track's timeline.
        public let packetized: PacketizedFrame
        /// The frame's number in the track's history.
        public let number: FrameNumber
        /// The peer's payload type for the frame's format.
        public let payloadType: PayloadType
        /// The frame with the number before, to be sent again with this one; nil if it isn't. It is left out if the
        /// peer does not support that, or if the two don't fit into one packet (``REDFormat``).
        public let previous: PacketizedFrame?
        /// The time at which the frame is shown, instead of its own; nil for its own. A frame that is sent again to a
        /// viewer who lost it must not go back on that viewer's timeline.
        public let shownAt: MediaTime?
        /// For sound, whether this is the first packet after a silence.
        public let endsSilence: Bool

        /// A frame that is shown at its own time, and sent without another one, unless the arguments differ.
        public init(
            _ packetized: PacketizedFrame, number: FrameNumber, payloadType: PayloadType,
            after previous: PacketizedFrame? = nil, shownAt: MediaTime? = nil, endsSilence: Bool = false
        ) {
            self.packetized = packetized
            self.number = number
            self.payloadType = payloadType
            self.previous = previous
            self.shownAt = shownAt
            self.endsSilence = endsSilence
        }
    }
}
