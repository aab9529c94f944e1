import MediaTypes
import RTP

/// The payload types of a session: one for each profile that the track may have, all in the same RTP stream.
struct SessionFormats: Sendable {
    /// The payload types that carry pictures of one profile.
    struct Format: Sendable {
        var payloadType: PayloadType
        /// The payload type of retransmissions; nil if the peer does not support them.
        var retransmissionPayloadType: PayloadType?
    }

    /// The format for 4:2:0.
    var yuv420: Format
    /// The format for 4:4:4; nil if the peer doesn't decode it.
    var yuv444: Format?

    /// The highest chroma format that the peer decodes; it also decodes all lower ones.
    var decodes: ChromaFormat { yuv444 == nil ? .yuv420 : .yuv444 }

    /// The payload type for pictures of `chroma`; nil if the peer doesn't decode them.
    func payloadType(for chroma: ChromaFormat) -> PayloadType? {
        switch chroma {
        case .yuv420: yuv420.payloadType
        case .yuv444: yuv444?.payloadType
        }
    }

    /// The retransmission payload type for each media payload type. Empty if the peer lacks it for any format that it
    /// decodes; lost packets are then sent again unchanged, which works for every format.
    var retransmissionPayloadTypes: [PayloadType: PayloadType] {
        var types: [PayloadType: PayloadType] = [:]
        for format in [yuv420, yuv444].compactMap({ $0 }) {
            guard let type = format.retransmissionPayloadType else { return [:] }
            types[format.payloadType] = type
        }
        return types
    }
}
