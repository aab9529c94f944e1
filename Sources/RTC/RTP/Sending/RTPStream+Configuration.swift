extension RTPStream {
    /// The parameters of a stream, constant for the session.
    public struct Configuration: Sendable {
        /// The SSRC of the stream.
        public var ssrc: SSRC
        /// The first sequence number; see `SequenceNumber.first(random:)`.
        public var firstSequenceNumber: SequenceNumber
        /// The offset added to media time: 32 random bits.
        public var timestampOffset: UInt32
        /// The negotiated header extensions.
        public var extensions: HeaderExtensionFormat
        /// The host's clock, for capture times.
        public var clock: NTPClock
        /// The retransmission stream; nil if the peer does not support one.
        public var retransmission: Retransmission?
        /// The form of packets with the frame before; nil if the peer does not support them.
        public var redundancy: REDFormat?

        public init(
            ssrc: SSRC, firstSequenceNumber: SequenceNumber, timestampOffset: UInt32,
            extensions: HeaderExtensionFormat = .none, clock: NTPClock, retransmission: Retransmission? = nil,
            redundancy: REDFormat? = nil
        ) {
            self.ssrc = ssrc
            self.firstSequenceNumber = firstSequenceNumber
            self.timestampOffset = timestampOffset
            self.extensions = extensions
            self.clock = clock
            self.retransmission = retransmission
            self.redundancy = redundancy
        }
    }

    /// The stream that carries retransmissions (RFC 4588), separate from the media stream.
    public struct Retransmission: Sendable {
        /// The SSRC of the retransmission stream.
        public var ssrc: SSRC
        /// Its first sequence number; see `SequenceNumber.first(random:)`.
        public var firstSequenceNumber: SequenceNumber
        /// The retransmission payload type for each media payload type (SDP's `apt`).
        public var payloadTypes: [PayloadType: PayloadType]

        public init(ssrc: SSRC, firstSequenceNumber: SequenceNumber, payloadTypes: [PayloadType: PayloadType]) {
            self.ssrc = ssrc
            self.firstSequenceNumber = firstSequenceNumber
            self.payloadTypes = payloadTypes
        }
    }
}
