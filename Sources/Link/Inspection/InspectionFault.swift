/// Something wrong in a stream, and where.
public struct InspectionFault: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, for programs; raw values stay as they are.
    public enum Code: String, Sendable, CaseIterable {
        /// Bytes that are no message, no record or no NAL unit; inspection goes on behind them.
        case unreadable
        /// The file ends in the middle of something.
        case cutFile
        /// Messages that the recorder could not keep.
        case recordingGap
        /// A control message whose payload can't be read.
        case malformedMessage
        /// A NAL unit that can't be read, or of a type that no encoder sends.
        case invalidNALUnit
        /// A NAL unit with forbidden_zero_bit set.
        case forbiddenBit
        /// A slice that refers to an SPS or PPS which was not sent before it.
        case missingParameterSet
        /// The first picture that can be decoded is no IDR picture.
        case startsWithoutIDR
        /// frame_num leaves out pictures that others may refer to.
        case frameNumberGap
        /// The sender's own count of pictures leaves some out, or repeats some.
        case pictureNumberGap
        /// A time that lies before the one of the message in front.
        case timeRunsBack
        /// An access unit whose last NAL unit does not say that it is the last.
        case missingEnd
        /// A picture none of whose slices begins at its first macroblock.
        case incompletePicture
        /// An access unit that ends without a slice.
        case emptyAccessUnit
        /// An access unit that a new start of capture cut off.
        case cutOffAccessUnit
        /// An access unit past the limit of bytes or NAL units of the link.
        case oversizedAccessUnit
        /// A slice of a legacy stream that came after its picture had been ended by time.
        case lateSlice
        /// The stream ends inside an access unit.
        case unfinishedAccessUnit

        /// Whether bytes are missing that may have been a part of a picture.
        var tearsPictures: Bool { self == .unreadable || self == .cutFile || self == .recordingGap }
    }

    public let code: Code
    /// In bytes from the file's or connection's first.
    public let offset: UInt64
    /// For people: without the offset, no full stop.
    public let words: String

    /// A fault at a place.
    public init(_ code: Code, at offset: UInt64, _ words: String) {
        self.code = code
        self.offset = offset
        self.words = words
    }

    public var description: String {
        // Some words have the place already.
        words.contains("byte \(offset)") ? words : "byte \(offset): \(words)"
    }
}
