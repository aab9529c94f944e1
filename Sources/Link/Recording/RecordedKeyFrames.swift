public import CaptureLink
import H264
public import MediaTypes

/// Decides when a recording of a live source needs another IDR picture, because a reader can start, seek and recover
/// only at one.
///
/// While pictures change, an IDR picture is requested when the last one is 10 s old. No request is made for a still
/// screen: its keep-alive pictures and refinements show no change. An IDR picture that comes for another reason counts
/// too.
public struct RecordedKeyFrames: Sendable {
    /// The longest time that a recording of changing pictures may go without an IDR picture.
    public static let period = Interval.seconds(10)

    private let period: Interval
    /// The time when the last IDR picture came or was requested.
    private var last: MonotonicTime?
    /// Whether the picture whose NAL units come next shows a change.
    private var showsChange = false

    /// Creates the state for a recording without pictures so far.
    public init(period: Interval = RecordedKeyFrames.period) {
        self.period = period
    }

    /// Records that a picture came at `now`.
    ///
    /// - Returns: Whether the source should be asked for an IDR picture.
    public mutating func recorded(isIDR: Bool, showsChange: Bool, at now: MonotonicTime) -> Bool {
        guard let last, !isIDR else {
            last = now
            return false
        }
        guard showsChange, now - last >= period else { return false }
        self.last = now
        return true
    }

    /// Records that a message of the source came at `now`. A picture shows a change if the picture message before it
    /// lists damage.
    ///
    /// - Returns: Whether the source should be asked for an IDR picture.
    public mutating func recorded(_ message: LinkMessage, at now: MonotonicTime) -> Bool {
        switch message {
        case .picture(let notice):
            showsChange = !notice.damage.isEmpty
            return false
        case .unit(let bytes):
            guard let type = bytes.dropFirst(AnnexB.startCode.count).first.flatMap({ NALUnitHeader($0)?.type }),
                type.isSlice
            else { return false }
            // The other slices of the same picture don't count again.
            defer { showsChange = false }
            return recorded(isIDR: type == .idrSlice, showsChange: showsChange, at: now)
        default:
            return false
        }
    }
}
