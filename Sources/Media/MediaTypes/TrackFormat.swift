/// What a reader must know about a track's frames before it can decode them. It changes only at a random access frame.
public struct TrackFormat: Hashable, Sendable {
    /// What a track carries.
    public enum Kind: Hashable, Sendable { case video, audio }

    /// The codecs that a track may have. Whatever differs between them is chosen by an exhaustive `switch` over this
    /// type. The raw values are those of the link.
    public enum Codec: UInt8, Hashable, Sendable, CaseIterable {
        /// ITU-T H.264.
        case h264 = 0
        /// Opus (RFC 6716).
        case opus = 1

        /// What frames of this codec carry.
        public var kind: Kind {
            switch self {
            case .h264: .video
            case .opus: .audio
            }
        }
    }

    /// How the frames are coded.
    public var codec: Codec
    /// The chroma format that a decoder of pictures must support. The profile decides: a stream of a 4:4:4 profile
    /// counts as 4:4:4, even if its pictures have less chroma.
    public var chroma: ChromaFormat
    /// The visible size of pictures, if it is known.
    public var size: PictureSize?

    /// A format with these properties.
    public init(codec: Codec, chroma: ChromaFormat = .yuv420, size: PictureSize? = nil) {
        self.codec = codec
        self.chroma = chroma
        self.size = size
    }

    /// What the track carries.
    public var kind: Kind { codec.kind }

    /// The rate of the clock of the track's media times, which is also that of its RTP timestamps.
    public var clockRate: ClockRate {
        switch codec {
        case .h264: .video
        case .opus: .audio
        }
    }
}
