/// One coded picture with its parameter sets: an access unit (ITU-T H.264 section 7.4.1.2.3) as an Annex B byte stream.
///
/// The one type that carries video from the link to every reader. Its bytes are written once and then shared by
/// reference.
public struct AccessUnit: Sendable {
    /// The whole access unit in Annex B form: each NAL unit follows the start code `00 00 00 01`.
    public let bytes: [UInt8]
    /// The range of each NAL unit in `bytes`, without its start code. The ranges ascend, are not empty and never
    /// overlap.
    public let nalUnits: [Range<Int>]
    /// Whether the primary coded picture is an IDR picture. An IDR access unit in the hub begins with SPS and PPS.
    public let isIDR: Bool
    /// When the picture was captured, on this machine's clock, or nil if the source doesn't know.
    public let captureTime: MonotonicTime?
    /// Whether the picture includes the pointer, or would if the pointer were on the screen. Also true if that isn't
    /// known.
    public var isPointerDrawn: Bool

    /// Creates an access unit from bytes that the caller has already split; every range of `nalUnits` must lie inside
    /// `bytes`.
    public init(
        bytes: [UInt8], nalUnits: [Range<Int>], isIDR: Bool, captureTime: MonotonicTime?, isPointerDrawn: Bool = true
    ) {
        self.bytes = bytes
        self.nalUnits = nalUnits
        self.isIDR = isIDR
        self.captureTime = captureTime
        self.isPointerDrawn = isPointerDrawn
    }

    /// The same picture without its capture time.
    public var withoutCaptureTime: AccessUnit { withCaptureTime(nil) }

    /// The same picture with `time` as its capture time.
    public func withCaptureTime(_ time: MonotonicTime?) -> AccessUnit {
        AccessUnit(bytes: bytes, nalUnits: nalUnits, isIDR: isIDR, captureTime: time, isPointerDrawn: isPointerDrawn)
    }
}
