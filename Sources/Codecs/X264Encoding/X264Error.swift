public import MediaTypes

/// What can go wrong with an encoder.
public enum X264Error: Error, CustomStringConvertible {
    /// A side is zero, or larger than 16384.
    case unusableSize(PictureSize)
    /// Not 1...240 pictures a second.
    case unusableFrameRate(Int)
    /// The library doesn't know this preset or profile.
    case unknownPreset(String)
    /// The library refused the configuration.
    case cannotOpen(size: PictureSize, reason: String)
    /// The library made no SPS and PPS.
    case noParameterSets
    /// The library refused a new rate.
    case cannotReconfigure(BitRate, reason: String)
    /// A row of the source is shorter than the picture is wide.
    case rowsTooShort(stride: Int, width: Int)
    /// The picture isn't of the encoder's size, or its planes aren't of the picture's.
    case wrongPictureSize(PictureSize, expected: PictureSize)
    /// The library gave nothing for a picture.
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
