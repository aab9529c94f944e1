/// A fault in a stream, and its place.
public struct InspectionFault: Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault, for programs; raw values never change.
    public enum Code: String, Sendable, CaseIterable {
        /// Bytes that are not a message, a record or a NAL unit; inspection continues after them.
        case unreadable
        /// The file ends inside an item.
        case cutFile
        /// Messages that the recorder could not keep.
        case recordingGap
        /// A control message whose payload can't be read.
        case malformedMessage
        /// A NAL unit that can't be read, or of a type that no encoder outputs.
        case invalidNALUnit
        /// A NAL unit with forbidden_zero_bit set.
        case forbiddenBit
        /// A slice that refers to an SPS or PPS that wasn't sent before it.
        case missingParameterSet
        /// The first picture that can be decoded isn't an IDR picture.
        case startsWithoutIDR
        /// frame_num skips pictures that others may refer to.
        case frameNumberGap
        /// The sender's own count of pictures skips or repeats some.
        case pictureNumberGap
        /// A time that is earlier than that of the previous message.
        case timeRunsBack
        /// An access unit whose last NAL unit isn't marked as the last.
        case missingEnd
        /// A picture in which no slice begins at the first macroblock.
        case incompletePicture
        /// An access unit that ends without a slice.
        case emptyAccessUnit
        /// An access unit that was cut off by a new start of capture.
        case cutOffAccessUnit
        /// An access unit that exceeds the link's limit of bytes or NAL units.
        case oversizedAccessUnit
        /// A slice of a legacy stream that arrived after a timeout had ended its picture.
        case lateSlice
        /// The stream ends inside an access unit.
        case unfinishedAccessUnit

        /// Whether bytes are missing that may have been part of a picture.
        var tearsPictures: Bool { self == .unreadable || self == .cutFile || self == .recordingGap }
    }

    /// The kind of fault.
    public let code: Code
    /// The offset in the file or connection.
    public let offset: UInt64
    /// A description for people, without the offset and without a full stop.
    public let text: String

    /// Creates a fault at an offset.
    public init(_ code: Code, at offset: UInt64, _ text: String) {
        self.code = code
        self.offset = offset
        self.text = text
    }

    public var description: String {
        // Some descriptions already include the offset.
        text.contains("byte \(offset)") ? text : "byte \(offset): \(text)"
    }
}
