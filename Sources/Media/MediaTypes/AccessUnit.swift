/// One coded picture with its parameter sets: an access unit (ITU-T H.264 section 7.4.1.2.3) as an Annex B byte stream.
///
/// The one currency from the link to every reader. Its bytes are written once and shared by reference from then on.
public struct AccessUnit: Sendable {
    /// The whole access unit in Annex B form: each NAL unit behind the start code `00 00 00 01`.
    public let bytes: [UInt8]
    /// Where each NAL unit stands in `bytes`, without its start code; ascending, never empty, never overlapping.
    public let nalUnits: [Range<Int>]
    /// Whether the primary coded picture is an IDR picture. An IDR access unit in the hub begins with SPS and PPS.
    public let isIDR: Bool
    /// When the picture was taken from the screen, on this machine's clock; nil where the source doesn't know.
    public let captureTime: MonotonicTime?
    /// Whether the pointer is drawn in the picture, or would be if it were on the screen; true also where that isn't known.
    public var isPointerDrawn: Bool

    /// An access unit of bytes that the caller has already split; `nalUnits` must lie inside `bytes`.
    public init(
        bytes: [UInt8], nalUnits: [Range<Int>], isIDR: Bool, captureTime: MonotonicTime?, isPointerDrawn: Bool = true
    ) {
        self.bytes = bytes
        self.nalUnits = nalUnits
        self.isIDR = isIDR
        self.captureTime = captureTime
        self.isPointerDrawn = isPointerDrawn
    }

    /// The same picture, whose capture time isn't known.
    public var withoutCaptureTime: AccessUnit { withCaptureTime(nil) }

    /// The same picture, taken at `time`.
    public func withCaptureTime(_ time: MonotonicTime?) -> AccessUnit {
        AccessUnit(bytes: bytes, nalUnits: nalUnits, isIDR: isIDR, captureTime: time, isPointerDrawn: isPointerDrawn)
    }
}
