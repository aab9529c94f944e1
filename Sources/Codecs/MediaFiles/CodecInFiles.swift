import CLibAV
import MediaTypes

/// How each codec is stored in MP4 and Matroska.
extension TrackFormat.Codec {
    /// libavformat's number of the codec.
    var identifier: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        }
    }

    /// What the file stores with the track, not in it, so that a decoder can begin. Nil if the headers can't be read.
    func configuration(_ track: MediaTrack) -> [UInt8]? {
        switch self {
        case .h264: H264Configuration(track.headers)?.bytes
        }
    }

    /// The four letters of MP4's sample entry if they aren't libavformat's choice. H.264 whose parameter sets change is
    /// marked as having them in its samples (avc3, ISO/IEC 14496-15).
    func sampleEntry(_ track: MediaTrack) -> StaticString? {
        switch self {
        case .h264: track.changesHeaders ? "avc3" : nil
        }
    }

    /// The bytes of a frame as the file stores them. Takes the frame's memory over if it isn't shared.
    func sample(of frame: consuming CodedFrame) -> [UInt8] {
        switch self {
        case .h264: frame.lengthPrefixed()
        }
    }
}
