/// Samples of a picture, by which a browser checks the picture that it has decoded: the payload of the RTP header
/// extension http://www.webrtc.org/experiments/rtp-hdrext/corruption-detection, whose specification has that address,
/// and is docs/native-code/rtp-hdrext/corruption-detection in libwebrtc.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |B|  seq index  |    std dev    | Y err | UV err|    sample 0   |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |    sample 1   |   sample 2    |    …   up to sample 12
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
/// The samples are of the picture that a decoder makes of the frame, not of the encoder's input, so that a viewer's
/// picture must be equal to it: the errors allowed are rounding errors, and the filter is as narrow as a letter,
/// however coarsely the frame is coded. An encoder's own fault doesn't show.
public struct PictureSamples: Hashable, Sendable {
    /// The number of samples.
    public static let count = 13
    /// The size of the payload.
    public static let byteCount = 3 + count

    /// The standard deviation of the filter, in steps of 40/255 samples: 3.1 samples.
    private static let deviation: UInt8 = 20
    /// The filter ends where a weight would be less than 0.2; by the specification, that is after five samples.
    private static let reach = 5
    /// The weight at each distance from 0 on: g to the power of its square, with g = exp(-1 / (2 * deviation²)).
    private static let weights = {
        var g = 1.0
        // The sum for exp(-x), whose terms vanish soon as x is 0.0508.
        let x = 0.5 * (255.0 / (40 * Double(deviation))) * (255.0 / (40 * Double(deviation)))
        var term = 1.0
        for order in 1...12 {
            term *= -x / Double(order)
            g += term
        }
        return (0...reach).map { distance in (0..<distance * distance).reduce(1.0) { weight, _ in weight * g } }
    }()
    /// The allowed errors of the samples in luma and chroma, four bits each. Samples are rounded down before sending.
    private static let errors: UInt8 = 1 << 4 | 1

    /// The payload.
    public let bytes: [UInt8]

    /// Whether the payload has the upper bits of the index, so that a receiver needs no earlier one (the bit B).
    public var isAbsolute: Bool { bytes[0] & 0x80 != 0 }

    /// Takes the samples of `picture` from place `index` of the Halton sequence on.
    public init(of picture: I420Picture, at index: SampleIndex) {
        let start = index.isAbsolute ? index.rawValue >> 7 | 0x80 : index.rawValue & 0x7F
        bytes =
            [UInt8(truncatingIfNeeded: start), Self.deviation, Self.errors]
            + (0..<Self.count).map { Self.sample(of: picture, at: Int(index.rawValue) + $0) }
    }

    /// The mean around one place. The planes lie side by side:
    ///
    ///     +------+---+
    ///     |      | U |
    ///     +  Y   +---+
    ///     |      | V |
    ///     +------+---+
    private static func sample(of picture: I420Picture, at index: Int) -> UInt8 {
        let (width, height) = (picture.size.width, picture.size.height)
        let row = Int(halton(index, base: 2) * Double(height))
        let column = Int(halton(index, base: 3) * Double(width + picture.chromaWidth))
        if column < width { return mean(of: picture, .luma, column, row, PictureSize(width: width, height: height)) }
        let size = PictureSize(width: picture.chromaWidth, height: picture.chromaHeight)
        if row < size.height { return mean(of: picture, .blueDifference, column - width, row, size) }
        return mean(of: picture, .redDifference, column - width, row - size.height, size)
    }

    private static func mean(
        of picture: I420Picture, _ plane: I420Picture.Plane, _ column: Int, _ row: Int, _ size: PictureSize
    ) -> UInt8 {
        var (sum, weight) = (0.0, 0.0)
        for y in max(0, row - reach)...max(0, min(size.height - 1, row + reach)) {
            for x in max(0, column - reach)...max(0, min(size.width - 1, column + reach)) {
                let own = weights[abs(y - row)] * weights[abs(x - column)]
                sum += own * Double(picture[plane, x, y])
                weight += own
            }
        }
        // The mean of equal samples may come out a trifle less than they are.
        return UInt8(max(0, min(255, sum / weight + 1e-9)))
    }

    /// The element of van der Corput's sequence: the digits of `index`, behind the point and in reverse. The operations
    /// and their order are as in a receiver, because a place at the edge of a sample depends on the last bit.
    private static func halton(_ index: Int, base: Int) -> Double {
        var (rest, value, place) = (index, 0.0, 1.0)
        while rest > 0 {
            place /= Double(base)
            value += place * Double(rest % base)
            rest /= base
        }
        return value
    }
}

/// The place in the Halton sequence of a picture's first sample, 14 bits. Every 128 places make a block.
///
/// By turns, one picture has the first samples of a block, and the next picture has other samples of that block. First
/// samples carry their whole place; for others, a receiver assumes the last block, or the block after it if their place
/// in the block is less than the place after the last samples. libwebrtc also counts samples that arrive twice, because
/// a packet is repeated, and so loses count. After each turn it is right again.
public struct SampleIndex: Hashable, Sendable {
    /// The place.
    public let rawValue: UInt16
    /// Whether it is the first of its block.
    public var isAbsolute: Bool { rawValue & 0x7F == 0 }

    /// The place after which the first samples are taken.
    public static let beforeFirst = SampleIndex(rawValue: .max)

    /// The place `rawValue`, of which the low 14 bits count.
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0x3FFF }

    /// The place of the samples after these. For a key frame it is the first of a block, as the specification requires.
    public func next(isKeyFrame: Bool) -> SampleIndex {
        guard isAbsolute, !isKeyFrame else { return SampleIndex(rawValue: (rawValue | 0x7F) + 1) }
        // Eight times as many samples would fit between the first ones and the end of the block.
        let turn = 1 + (rawValue >> 7) % 8
        return SampleIndex(rawValue: rawValue + turn * UInt16(PictureSamples.count))
    }
}
