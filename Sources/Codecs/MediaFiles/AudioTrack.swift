public import MediaTypes
import Opus

/// A track of sound of a file.
public struct AudioTrack: Hashable, Sendable {
    /// How its packets are coded.
    public enum Codec: Hashable, Sendable {
        /// Opus (RFC 6716).
        case opus
        /// Raw frames of AAC-LC, with their AudioSpecificConfig (ISO/IEC 14496-3), samples a second and bit rate.
        case aac(configuration: [UInt8], rate: Int, bitRate: BitRate)
    }

    /// How the packets are coded.
    public var codec: Codec
    /// 1 or 2.
    public var channelCount: Int

    /// Creates a track from its properties.
    public init(codec: Codec, channelCount: Int) {
        self.codec = codec
        self.channelCount = channelCount
    }

    /// What a decoder needs before the first packet, stored once in the file.
    var configuration: [UInt8] {
        switch codec {
        case .opus: OpusHeader(channelCount: UInt8(clamping: channelCount)).bytes
        case .aac(let configuration, _, _): configuration
        }
    }
}
