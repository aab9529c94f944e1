public import CaptureLink
import H264
public import MediaTypes

/// Decides when a recording of a live source needs another IDR picture: a reader can begin, seek and recover only there.
///
/// While pictures change, one is asked for when the last is 10 s old. A screen that stands still gets none: its keep-alive pictures
/// and refinements show no change. An IDR picture that came for another reason counts as well.
public struct RecordedKeyFrames: Sendable {
    /// How long a recording of changing pictures may go on without an IDR picture.
    public static let period = Interval.seconds(10)

    private let period: Interval
    /// When the last IDR picture came, or was asked for.
    private var last: MonotonicTime?
    /// Whether the picture whose NAL units come now shows a change.
    private var showsChange = false

    /// A recording without pictures so far.
    public init(period: Interval = RecordedKeyFrames.period) {
        self.period = period
    }

    /// A picture was recorded at `now`.
    ///
    /// - Returns: whether the source is to be asked for an IDR picture.
    public mutating func recorded(isIDR: Bool, showsChange: Bool, at now: MonotonicTime) -> Bool {
        guard let last, !isIDR else {
            last = now
            return false
        }
        guard showsChange, now - last >= period else { return false }
        self.last = now
        return true
    }

    /// A message of the source was recorded at `now`. A picture shows a change where the message in front of it says so.
    ///
    /// - Returns: whether the source is to be asked for an IDR picture.
    public mutating func recorded(_ message: LinkMessage, at now: MonotonicTime) -> Bool {
        switch message {
        case .picture(let notice):
            showsChange = !notice.damage.isEmpty
            return false
        case .nalUnit(let bytes):
            guard let type = bytes.dropFirst(AnnexB.startCode.count).first.flatMap({ NALUnitHeader($0)?.type }),
                type.isSlice
            else { return false }
            // The other slices of the same picture say nothing new.
            defer { showsChange = false }
            return recorded(isIDR: type == .idrSlice, showsChange: showsChange, at: now)
        default:
            return false
        }
    }
}
