import MediaTypes
import RTP

/// The payload types of a session: one for each profile that the track may have, in one and the same packet stream.
struct SessionFormats: Sendable {
    /// The payload types that carry pictures of one profile.
    struct Format: Sendable {
        var payloadType: PayloadType
        /// The retransmission's; nil where the peer takes none.
        var retransmissionPayloadType: PayloadType?
    }

    /// What carries 4:2:0.
    var yuv420: Format
    /// What carries 4:4:4; nil where the peer doesn't decode it.
    var yuv444: Format?

    /// What the peer decodes: all formats up to this one.
    var decodes: ChromaFormat { yuv444 == nil ? .yuv420 : .yuv444 }

    /// The payload type for pictures of `chroma`; nil where the peer doesn't decode them.
    func payloadType(for chroma: ChromaFormat) -> PayloadType? {
        switch chroma {
        case .yuv420: yuv420.payloadType
        case .yuv444: yuv444?.payloadType
        }
    }

    /// The retransmission's payload type for each of the media's; none where the peer has it for one of two alone: packets that
    /// go again as they were repair both.
    var retransmissionPayloadTypes: [PayloadType: PayloadType] {
        var types: [PayloadType: PayloadType] = [:]
        for format in [yuv420, yuv444].compactMap({ $0 }) {
            guard let type = format.retransmissionPayloadType else { return [:] }
            types[format.payloadType] = type
        }
        return types
    }
}
