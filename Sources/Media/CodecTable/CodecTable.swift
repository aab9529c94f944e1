import H264
public import MediaTypes
import Opus

extension TrackFormat.Codec {
    /// What the link, recordings and files must know of the codec.
    public var coding: any FrameCoding {
        switch self {
        case .h264: H264Coding()
        case .opus: OpusCoding()
        }
    }
}
