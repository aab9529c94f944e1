import CLibAV
public import MediaTypes

/// The description of a stream that a decoder needs before the first packet.
public struct StreamDescription: Sendable {
    /// libavcodec's number of the codec.
    public let codec: UInt32
    /// libavcodec's name of the codec, such as `hevc`.
    public let name: String
    /// The file format's four letters for the codec; 0 if it has none.
    public let tag: UInt32
    /// The size of the pictures, if the stream's description has it.
    public let size: PictureSize?
    /// The frame rate, if the source states it.
    public let picturesPerSecond: Int?
    /// The headers before the first packet, in the codec's own form; empty if the packets have them.
    public let headers: [UInt8]
    /// By how many quarters of a turn the pictures have to be turned clockwise to be upright, 0 to 3. The decoder
    /// doesn't do that.
    public let quarterTurns: Int
    /// What else keeps H.264 from passing as it is, in words for people, such as `with B-frames`; empty for other
    /// codecs.
    public let traits: [String]

    /// A stream with these properties.
    public init(
        codec: UInt32, name: String, tag: UInt32, size: PictureSize?, picturesPerSecond: Int? = nil, headers: [UInt8],
        quarterTurns: Int = 0, traits: [String] = []
    ) {
        self.codec = codec
        self.name = name
        self.tag = tag
        self.size = size
        self.picturesPerSecond = picturesPerSecond
        self.headers = headers
        self.quarterTurns = quarterTurns
        self.traits = traits
    }

    /// H.264 with its headers in the packets, which can't pass as it is because of these traits.
    package static func h264(traits: [String]) -> StreamDescription {
        StreamDescription(
            codec: AV_CODEC_ID_H264.rawValue, name: "h264", tag: 0, size: nil, headers: [], traits: traits)
    }

    /// Tells a decoder that isn't open yet. Returns false if no memory is left.
    func describe(to context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        context.pointee.codec_tag = tag
        if let size {
            context.pointee.width = Int32(clamping: size.width)
            context.pointee.height = Int32(clamping: size.height)
        }
        guard !headers.isEmpty else { return true }
        // The decoder may read on behind the headers, and frees them.
        guard let memory = av_mallocz(headers.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { return false }
        headers.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: memory, count: bytes.count).copyMemory(from: bytes)
        }
        context.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        context.pointee.extradata_size = Int32(clamping: headers.count)
        return true
    }
}

/// One packet of a stream: a picture in most codecs.
public struct StreamPacket: Sendable {
    /// The codec's bytes.
    public let bytes: [UInt8]
    /// Whether decoding can begin with it.
    public let isKeyFrame: Bool
    /// When what it shows was captured; nil if that isn't known.
    public var captureTime: MonotonicTime?

    /// A packet with these bytes.
    public init(bytes: [UInt8], isKeyFrame: Bool, captureTime: MonotonicTime? = nil) {
        self.bytes = bytes
        self.isKeyFrame = isKeyFrame
        self.captureTime = captureTime
    }
}
