import CLibAV
import MediaTypes
import Opus

/// How each codec is stored in MP4 and Matroska.
extension TrackFormat.Codec {
    /// libavformat's identifier for the codec.
    var identifier: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        case .opus: AV_CODEC_ID_OPUS
        }
    }

    /// What a decoder needs before the first sample, stored once in the file. Nil if the headers can't be read.
    func configuration(_ headers: [[UInt8]]) -> [UInt8]? {
        switch self {
        case .h264: H264Configuration(headers)?.bytes
        case .opus: OpusHeader(channelCount: 2).bytes
        }
    }

    /// The four-letter type of MP4's sample entry; nil if libavformat chooses it. H.264 whose parameter sets change is
    /// stored as `avc3`, which says that the samples contain them (ISO/IEC 14496-15).
    func sampleEntry(_ track: MediaTrack) -> StaticString? {
        switch self {
        case .h264: track.changesHeaders ? "avc3" : nil
        case .opus: nil
        }
    }

    /// The bytes of a frame as the file stores them. Takes the frame's memory over if it isn't shared.
    func sample(of frame: consuming CodedFrame) -> [UInt8] {
        switch self {
        case .h264: frame.lengthPrefixed()
        case .opus: Array(frame.bytes.dropFirst(4))
        }
    }
}
