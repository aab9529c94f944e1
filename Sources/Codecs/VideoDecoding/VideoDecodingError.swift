public import MediaTypes

/// Why an access unit gave no picture that can be trusted.
public enum VideoDecodingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// libavcodec has no H.264 decoder, or there is no memory for one.
    case decoderUnavailable(reason: String)
    /// An access unit without a byte, or with more than `H264Decoder.largestAccessUnit`.
    case unusableAccessUnit(bytes: Int)
    /// Something in the access unit, or before it, is missing or broken: ask for an IDR picture.
    case damaged(reason: String)
    /// The picture decodes, but its samples are not 8-bit 4:2:0 or 4:4:4; `format` is FFmpeg's name for them.
    case unsupportedFormat(format: String, size: PictureSize)
    /// The stream's pictures, so many of which are kept at once, would take more than `H264Decoder.pictureBufferLimit`; nothing of it was decoded.
    case tooLarge(size: PictureSize, pictures: Int, bytes: Int)
    /// More pictures of the stream are kept at once than its SPS tells of.
    case tooManyPictures
    /// The system has no memory left for the picture or the packet.
    case outOfMemory

    /// Whether an IDR picture may mend it.
    public var wantsIDR: Bool {
        switch self {
        case .damaged, .unusableAccessUnit: true
        case .decoderUnavailable, .unsupportedFormat, .tooLarge, .tooManyPictures, .outOfMemory: false
        }
    }

    public var description: String {
        switch self {
        case .decoderUnavailable(let reason): "no H.264 decoder: \(reason)"
        case .unusableAccessUnit(let bytes):
            "an access unit of \(bytes) bytes can't be decoded; it may have 1 to \(H264Decoder.largestAccessUnit)"
        case .damaged(let reason): "the picture is damaged: \(reason)"
        case .unsupportedFormat(let format, let size):
            "a \(size) picture of the format \(format); only 8-bit 4:2:0 and 4:4:4 (yuv420p, yuvj420p, yuv444p, yuvj444p) can be used"
        case .tooLarge(let size, let pictures, let bytes):
            "\(pictures) pictures of \(size), which the stream has its decoder keep, take \(bytes >> 20) MiB; the limit is \(H264Decoder.pictureBufferLimit >> 20)"
        case .tooManyPictures:
            "the stream has its decoder keep more pictures than \(H264Decoder.pictureMemoryLimit >> 20) MiB hold"
        case .outOfMemory: "no memory left for a picture"
        }
    }
}
