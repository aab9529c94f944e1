public import MediaTypes

/// The reason why an encoder can't be made or can't encode a picture.
public enum VideoEncodingError: Error, CustomStringConvertible {
    /// The width or height is zero, or larger than `maxSide` samples.
    case unusableSize(PictureSize, maxSide: Int)
    /// The encoder refused its configuration or a picture; the text names the encoder and its reason.
    case failed(String)

    public var description: String {
        switch self {
        case .unusableSize(let size, let maxSide): "can't encode \(size): sides must be 1 to \(maxSide)"
        case .failed(let reason): reason
        }
    }
}
