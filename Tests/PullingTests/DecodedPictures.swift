import MediaTypes
import ScreenRelayKit
import Testing
import TrackHub
import VideoDecoding

/// What a viewer of a track sees: its pictures, decoded one after another.
final class DecodedPictures {
    private let decoder: H264Decoder
    private let subscription: TrackSubscription
    private var last: MediaTime?

    init(_ track: HostedTrack) throws {
        decoder = try H264Decoder()
        subscription = track.subscribe {}
    }

    /// Decodes what has come since the last call. Expects each frame to be later than the one before it.
    func take() throws {
        for frame in subscription.take() {
            try decoder.decode(frame.coded, copying: false)
            let isLater = last.map { $0 < frame.time } ?? true
            #expect(isLater)
            last = frame.time
        }
    }

    /// How many there are so far.
    var count: Int { decoder.pictureCount }
    /// The size of the last one; nil before the first.
    var size: PictureSize? { decoder.lastPictureSize }
}
