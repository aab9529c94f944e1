public import MediaTypes

/// The reason why an encoder can't be opened or can't encode a picture.
public enum X264Error: Error, CustomStringConvertible {
    /// The width or height is zero, or larger than 16384.
    case unusableSize(PictureSize)
    /// The frame rate isn't 1...240.
    case unusableFrameRate(Int)
    /// libx264 doesn't know this preset or profile.
    case unknownPreset(String)
    /// libx264 rejected the configuration.
    case cannotOpen(size: PictureSize, reason: String)
    /// libx264 made no SPS and PPS.
    case noParameterSets
    /// libx264 rejected a new rate.
    case cannotReconfigure(BitRate, reason: String)
    /// A row of the source is shorter than the width of the picture.
    case rowsTooShort(stride: Int, width: Int)
    /// The picture doesn't have the encoder's size, or its planes don't fit its size.
    case wrongPictureSize(PictureSize, expected: PictureSize)
    /// libx264 returned nothing for a picture.
    case notEncoded(reason: String)

    public var description: String {
        switch self {
        case .unusableSize(let size): "can't encode \(size): sides must be 1 to 16384"
        case .unusableFrameRate(let rate): "can't encode \(rate) pictures a second: must be 1 to 240"
        case .unknownPreset(let name): "x264 doesn't know \(name)"
        case .cannotOpen(let size, let reason): "x264 can't encode \(size): \(reason)"
        case .noParameterSets: "x264 made no SPS and PPS"
        case .cannotReconfigure(let rate, let reason):
            "x264 doesn't take a bit rate of \(rate.bitsPerSecond): \(reason)"
        case .rowsTooShort(let stride, let width): "rows of \(stride) bytes are too short for \(width) columns"
        case .wrongPictureSize(let size, let expected): "a picture of \(size) where \(expected) was expected"
        case .notEncoded(let reason): "x264 encoded nothing: \(reason)"
        }
    }
}
