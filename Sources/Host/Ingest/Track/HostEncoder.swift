import Clocks
import MediaTypes
import Threading
import X264Encoding

/// The host's own encoder, which carries on a track whose source makes no key frame.
///
/// The encoder is created when it is first needed, and again when the picture's size or colours change.
struct HostEncoder {
    /// Enough for crisp text on local networks; this encoder only bridges the time until the source's next key frame.
    private static let bitRate = BitRate(bitsPerSecond: 8_000_000)

    private var encoder: X264Encoder?

    /// Encodes `picture`. The first picture of a size, and one that is forced, becomes a key frame, which begins
    /// with its headers.
    mutating func encode(_ picture: I420Picture, forceIDR: Bool) throws -> CodedFrame {
        let configuration = X264Configuration(
            size: picture.size, framesPerSecond: 30, rate: .ceiling(Self.bitRate),
            matrix: picture.matrix, isFullRange: picture.isFullRange)
        let current = encoder?.configuration
        let isNew =
            current?.size != picture.size || current?.matrix != picture.matrix
            || current?.isFullRange != picture.isFullRange
        let encoder = try isNew ? X264Encoder(configuration) : self.encoder ?? X264Encoder(configuration)
        self.encoder = encoder
        let time = MediaTime(ticks: ClockRate.video.ticks(in: MonotonicTime.now() - .zero))
        return try encoder.accessUnit(of: picture, forceIDR: forceIDR || isNew, time: time)
    }
}
