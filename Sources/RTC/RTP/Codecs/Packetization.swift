public import MediaTypes

/// Divides the frames of one codec into packets.
public protocol FramePacketizer: Sendable {
    /// Divides `frame`, which is to be shown at `mediaTime` of a track that has `format` now.
    func packetize(_ frame: CodedFrame, at mediaTime: MediaTime, format: TrackFormat) -> PacketizedFrame
}

/// Puts the frames of one codec together from packets.
public protocol FrameDepacketizer: Sendable {
    /// The frame whose packets have these payloads, in sequence order and with none missing; nil if it is malformed.
    /// The caller bounds the number and the size of the payloads.
    func contents(of payloads: [ArraySlice<UInt8>]) -> FrameContents?
}

/// What a depacketizer finds in a frame's packets.
public struct FrameContents: Hashable, Sendable {
    /// The codec's units in order, in the form in which they are made into a `CodedFrame`: in H.264 the NAL units, each
    /// after the start code `00 00 00 01`.
    public var units: [[UInt8]] = []
    /// Whether decoding can begin with the frame.
    public var isRandomAccess = false
    /// Whether the frame has a part of a picture, or sound; otherwise it has only parameters.
    public var hasMedia = false
}

extension TrackFormat.Codec {
    /// The packetizer for frames of this codec.
    public var packetizer: any FramePacketizer {
        switch self {
        case .h264: H264Packetizer()
        case .opus: OpusPacketizer()
        }
    }

    /// Whether each packet holds a whole frame, so that only its own bytes end it (RFC 7587 section 4.2).
    var hasFrameInEachPacket: Bool {
        switch self {
        case .h264: false
        case .opus: true
        }
    }

    /// The depacketizer for frames of this codec.
    public var depacketizer: any FrameDepacketizer {
        switch self {
        case .h264: H264Depacketizer()
        case .opus: OpusDepacketizer()
        }
    }
}
