import Glibc
import MediaTypes

/// What is wrong with a buffer, or with the metadata in it. Its sender may be faulty, so nothing is used unchecked.
enum BufferFault: Error, Equatable, CustomStringConvertible {
    /// The format isn't one that is read.
    case unsupportedFormat(String)
    /// A side is 0 or longer than the longest, or there are too many pixels.
    case sizeOutOfRange(width: UInt32, height: UInt32)
    /// There is no block of memory.
    case noMemory
    /// The memory is of this kind, a number of `spa_data_type`.
    case unsupportedMemory(UInt32)
    /// The memory can't be mapped; `code` is an errno.
    case notMapped(code: Int32)
    /// The file has fewer bytes than the buffer says.
    case fileTooShort(bytes: Int, needed: Int)
    /// A row has fewer bytes than its pixels.
    case strideTooShort(stride: Int, needed: Int)
    /// The pixels end behind what the sender has filled, or that ends behind the memory.
    case outsideMemory(end: Int, available: Int)
    /// The visible part isn't inside the picture.
    case cropOutside(PixelRectangle, PictureSize)
    /// The picture is transformed in a way that `spa_meta_videotransform_value` has no number for.
    case unknownTransform(UInt32)
    /// The pointer has this size.
    case pointerTooLarge(width: UInt32, height: UInt32)
    /// The pointer's pixels aren't inside its metadata, which has so many bytes.
    case pointerOutside(bytes: Int)
    /// The pointer is stored in this format.
    case pointerFormat(UInt32)

    var description: String {
        switch self {
        case .unsupportedFormat(let name): "pixels in format \(name); BGRx, BGRA, RGBx and RGBA can be read"
        case .sizeOutOfRange(let width, let height):
            "a picture of \(width)x\(height); each side may have 1 to \(CastFormat.maxSide) pixels, and all of it "
                + "\(CastFormat.maxPixels)"
        case .noMemory: "a buffer without memory"
        case .unsupportedMemory(let kind):
            kind == Self.dmaBuf ? "a picture in the memory of a graphics card (DMA-BUF)" : "memory of kind \(kind)"
        case .notMapped(let code): "memory that can't be mapped: \(String(cString: strerror(code)))"
        case .fileTooShort(let bytes, let needed): "a file of \(bytes) bytes for a buffer of \(needed)"
        case .strideTooShort(let stride, let needed): "rows of \(stride) bytes for pixels of \(needed)"
        case .outsideMemory(let end, let available): "pixels up to byte \(end) of \(available)"
        case .cropOutside(let part, let size):
            "a visible part of \(part.size) at \(part.x), \(part.y) of a picture of \(size)"
        case .unknownTransform(let number): "a picture with the unknown transform \(number)"
        case .pointerTooLarge(let width, let height):
            "a pointer of \(width)x\(height); each side may have \(CursorReport.maxSide) pixels"
        case .pointerOutside(let bytes): "a pointer whose pixels aren't in the \(bytes) bytes of its metadata"
        case .pointerFormat(let number): "a pointer in format \(number)"
        }
    }

    /// SPA_DATA_DmaBuf.
    static let dmaBuf: UInt32 = 3
}
