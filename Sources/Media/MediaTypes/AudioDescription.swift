/// A stream of sound as a file or another machine describes it: what a decoder has to know before its first packet.
public struct AudioDescription: Hashable, Sendable {
    /// FFmpeg's name of the codec, such as `pcm_mulaw`.
    public var codec: String
    /// The samples of one channel in a second; 0 if only the packets tell.
    public var rate: Int
    /// The channels; 0 if only the packets tell.
    public var channelCount: Int
    /// The bits of a coded sample, for codecs that come with several; else 0.
    public var bitsPerSample = 0
    /// The bytes of a block, for codecs that have blocks; else 0.
    public var blockByteCount = 0
    /// The bits in a second, for codecs that depend on it; else 0.
    public var bitRate = BitRate(bitsPerSecond: 0)
    /// The file format's four letters for the codec; 0 if it has none.
    public var tag: UInt32 = 0
    /// What comes before the first packet, in the codec's own form; empty if the packets have it.
    public var headers: [UInt8] = []

    /// A stream of this codec.
    public init(codec: String, rate: Int, channelCount: Int) {
        self.codec = codec
        self.rate = rate
        self.channelCount = channelCount
    }

    /// Whether its packets are Opus in mono or stereo, as a track carries them. Where the header has another mapping
    /// family than 0, a packet may have several streams (RFC 7845 section 5.1.1).
    public var isPlainOpus: Bool {
        codec == "opus" && channelCount <= 2 && (headers.count <= 18 || headers[18] == 0)
    }
}

/// One packet of a stream of sound.
public struct AudioPacket: Sendable {
    /// The codec's bytes.
    public var bytes: [UInt8]
    /// The headers that hold from this packet on, if they are repeated or have changed; else empty.
    public var headers: [UInt8]
    /// When its first sample was captured; nil if that isn't known.
    public var captureTime: MonotonicTime?

    /// A packet with these bytes.
    public init(bytes: [UInt8], headers: [UInt8] = [], captureTime: MonotonicTime? = nil) {
        self.bytes = bytes
        self.headers = headers
        self.captureTime = captureTime
    }
}
