public import MediaTypes

/// The reason why an encoder can't be made or can't encode a picture.
public enum VideoEncodingError: Error, CustomStringConvertible {
    /// The width or height is zero, or larger than `longest` samples.
    case unusableSize(PictureSize, longest: Int)
    /// The encoder refused its configuration or a picture; the text names the encoder and its reason.
    case failed(String)

    public var description: String {
        switch self {
        case .unusableSize(let size, let longest): "can't encode \(size): sides must be 1 to \(longest)"
        case .failed(let reason): reason
        }
    }
}
