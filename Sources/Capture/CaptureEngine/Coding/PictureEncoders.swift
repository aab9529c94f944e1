import MediaTypes
import VideoEncoding
import X264Encoding

extension TrackFormat.Codec {
    /// A new encoder of this codec for pictures of `size`. `onWarning` receives its warnings, one line each, on the
    /// thread that encodes.
    func makeEncoder(
        size: PictureSize, chroma: ChromaFormat, framesPerSecond: Int, onWarning: @escaping @Sendable (String) -> Void
    ) throws(VideoEncodingError) -> any PictureEncoder {
        switch self {
        case .h264:
            try ScreenEncoder(
                X264Configuration(
                    size: size, framesPerSecond: framesPerSecond, rate: .qpEachPicture, chroma: chroma),
                onWarning: { onWarning("x264: \($0)") })
        case .opus: throw .failed("Opus has no pictures")
        }
    }
}
