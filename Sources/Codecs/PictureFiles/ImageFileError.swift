public import MediaTypes

/// The reason why a picture could not be encoded as an image file.
public enum ImageFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The width or height is zero or above 16384, or the planes don't fit the size.
    case unusablePicture(PictureSize, bytes: Int)
    /// The quality isn't 1...100.
    case unusableQuality(Int)
    /// libavcodec was built without the encoder, or the encoder rejects the picture.
    case encoderFailed(format: String, reason: String)
    /// The system has no memory left.
    case outOfMemory

    public var description: String {
        switch self {
        case .unusablePicture(let size, let bytes): "a \(size) picture of \(bytes) bytes can't be written"
        case .unusableQuality(let quality): "a quality of \(quality); it may be from 1 to 100"
        case .encoderFailed(let format, let reason): "the picture can't be written as \(format): \(reason)"
        case .outOfMemory: "no memory left to write the picture"
        }
    }
}
