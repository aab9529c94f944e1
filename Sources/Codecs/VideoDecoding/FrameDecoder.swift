public import MediaTypes

/// Decodes the pictures of one codec. Not thread-safe.
public protocol FrameDecoder: AnyObject {
    /// How many pictures it has decoded so far.
    var pictureCount: Int { get }
    /// Decodes one frame and returns the pictures that are output: usually one, or more or none if the stream reorders
    /// pictures. With `copying: false` none is returned, and ``lastPicture()`` has the result. Throws
    /// ``VideoDecodingError``: `damaged` if a part of the frame, or a frame that it refers to, is missing or invalid.
    @discardableResult
    func decode(_ frame: CodedFrame, copying: Bool) throws(VideoDecodingError) -> [I420Picture]
    /// The last picture that was decoded; nil if there is none. Throws ``VideoDecodingError`` if it can't be copied.
    func lastPicture() throws(VideoDecodingError) -> I420Picture?
}

extension TrackFormat.Codec {
    /// A new decoder for frames of this codec, which must be one of pictures.
    ///
    /// - Throws: `decoderUnavailable` if the codec is one of sound, or if libavcodec has no decoder for it;
    ///   `outOfMemory`.
    public func makeDecoder() throws(VideoDecodingError) -> any FrameDecoder {
        switch self {
        case .h264: try H264Decoder()
        case .opus: throw .decoderUnavailable(reason: "Opus has no pictures")
        }
    }
}
