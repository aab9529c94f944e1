/// Why a ``CustomVideoTrack`` or a ``CustomAudioTrack`` has left out what its application wrote.
public enum WriteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The track takes something else: pictures and not frames, samples and not packets, or the other way round.
    case wrongKind
    /// The track isn't in a room: not yet, or no longer.
    case notPublished
    /// The frame is of another codec than the track's kind.
    case wrongCodec
    /// The frame has no bytes.
    case empty
    /// A picture's planes don't fit its size, a side is longer than 16,384 pixels, or it has more than 36 megapixels.
    case wrongSize
    /// The samples have another number of channels, or the last ones are of some channels only.
    case wrongChannels
    /// The encoder has failed, which happens only without memory. The next picture or samples get another one.
    case encoderFailed

    public var description: String {
        switch self {
        case .wrongKind: "the track takes something else"
        case .notPublished: "the track is in no room"
        case .wrongCodec: "the frame is of a codec that the track can't have"
        case .empty: "the frame is empty"
        case .wrongSize: "the picture's planes don't fit its size, or it is too large"
        case .wrongChannels: "the samples don't have the track's channels"
        case .encoderFailed: "the encoder has failed"
        }
    }
}
