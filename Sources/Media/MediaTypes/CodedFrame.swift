/// One coded frame of a track: a picture, or a piece of sound. Frames are what flows from a source to every reader.
///
/// The bytes are written once and then shared by reference. Only the parts that know the codec look into them. For
/// H.264 the bytes are an access unit (ITU-T H.264 section 7.4.1.2.3) as an Annex B byte stream.
public struct CodedFrame: Sendable {
    /// The whole frame. Each unit follows the four bytes `00 00 00 01`, whatever the codec, so that the link and
    /// recordings need no copy.
    public let bytes: [UInt8]
    /// The range of each of the codec's units in `bytes`; in H.264 the NAL units, without those four bytes. The ranges
    /// ascend, are not empty and never overlap.
    public let units: [Range<Int>]
    /// Whether decoding can begin with this frame, as with an IDR picture. In a hub, such a frame of H.264 begins with
    /// SPS and PPS.
    public let isRandomAccess: Bool
    /// When the frame was captured, on this machine's clock, or nil if the source doesn't know.
    public private(set) var captureTime: MonotonicTime?
    /// The format from this frame on; nil if the format is unchanged or not known. Only a random access frame has one.
    public let format: TrackFormat?
    /// A property that only some frames have; nil for all others.
    public var attachment: FrameAttachment?
    /// Whether the source is about to send finer pictures, even if nothing changes; false if this isn't known.
    public var isToBeRefined = false
    /// Whether a newer picture than this one is overdue; false if this isn't known.
    public var isStale = false
    /// Whether the frame shows the same content as the one before, perhaps in higher quality; false if unknown.
    public var isUnchanged = false
    /// The size of what a picture shows if that is odd and the picture's isn't: its last column or row is then
    /// repeated, because the codec knows only even sizes. Nil if all of the picture counts, or if that isn't known.
    public var contentSize: PictureSize?
    /// How viewers check the picture; nil for most frames, and for all while no viewer asks for it.
    public var check: PictureCheck?

    /// Creates a frame from bytes that the caller has already split; every range of `units` must lie inside `bytes`.
    public init(
        bytes: [UInt8], units: [Range<Int>], isRandomAccess: Bool, captureTime: MonotonicTime?,
        format: TrackFormat?, attachment: FrameAttachment? = nil
    ) {
        self.bytes = bytes
        self.units = units
        self.isRandomAccess = isRandomAccess
        self.captureTime = captureTime
        self.format = format
        self.attachment = attachment
    }

    /// Whether a picture includes the pointer, or would if the pointer were on the screen. Also true if this isn't
    /// known.
    public var isPointerDrawn: Bool { attachment != .pointerLeftOut }

    /// How long sound lasts; nil if that isn't known.
    public var duration: Interval? { if case .lasts(let duration)? = attachment { duration } else { nil } }

    /// The same frame without its capture time.
    public var withoutCaptureTime: CodedFrame { withCaptureTime(nil) }

    /// The same frame with `time` as its capture time.
    public func withCaptureTime(_ time: MonotonicTime?) -> CodedFrame {
        var frame = self
        frame.captureTime = time
        return frame
    }
}

/// What a source may say about a single frame, in addition to what every frame has.
public enum FrameAttachment: Hashable, Sendable {
    /// A picture leaves out the pointer: viewers draw it themselves.
    case pointerLeftOut
    /// Sound lasts this long.
    case lasts(Interval)
}
