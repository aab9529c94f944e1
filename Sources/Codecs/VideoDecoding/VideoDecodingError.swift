public import MediaTypes

/// The reason why a frame gave no usable picture.
public enum VideoDecodingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// libavcodec has no decoder for the codec, or the decoder can't be opened.
    case decoderUnavailable(reason: String)
    /// The frame is empty, or longer than `H264Decoder.maxAccessUnit`.
    case unusableAccessUnit(bytes: Int)
    /// Something in or before the frame is missing or invalid. The receiver should ask for a key frame.
    case damaged(reason: String)
    /// The samples are not 8-bit 4:2:0, 4:2:2 or 4:4:4; `format` is FFmpeg's name for the format, or the bit depth.
    case unsupportedFormat(format: String, size: PictureSize)
    /// The pictures that the stream's SPS tells a decoder to keep would exceed `H264Decoder.pictureBufferLimit`.
    /// Nothing was decoded.
    case tooLarge(size: PictureSize, pictures: Int, bytes: Int)
    /// The decoder would have to keep more pictures in memory at once than `H264Decoder.pictureMemoryLimit` allows.
    case tooManyPictures
    /// The system has no memory left for the picture or the packet.
    case outOfMemory

    /// Whether a key frame may help.
    public var wantsKeyFrame: Bool {
        switch self {
        case .damaged, .unusableAccessUnit: true
        case .decoderUnavailable, .unsupportedFormat, .tooLarge, .tooManyPictures, .outOfMemory: false
        }
    }

    public var description: String {
        switch self {
        case .decoderUnavailable(let reason): "no decoder: \(reason)"
        case .unusableAccessUnit(let bytes):
            "a frame of \(bytes) bytes can't be decoded; it may have 1 to \(H264Decoder.maxAccessUnit)"
        case .damaged(let reason): "the picture is damaged: \(reason)"
        case .unsupportedFormat(let format, let size):
            "a \(size) picture of the format \(format); only 8-bit YCbCr (4:2:0, 4:2:2, 4:4:4 and nv12) can be used"
        case .tooLarge(let size, let pictures, let bytes):
            "\(pictures) pictures of \(size), which the stream has its decoder keep, take \(bytes >> 20) MiB; the limit is \(H264Decoder.pictureBufferLimit >> 20)"
        case .tooManyPictures:
            "the stream has its decoder keep more pictures than \(H264Decoder.pictureMemoryLimit >> 20) MiB hold"
        case .outOfMemory: "no memory left for a picture"
        }
    }
}
