public import CaptureLink
import CodecTable
public import MediaTypes

/// Decides when a recording of a live source needs another key frame, because a reader can start, seek and recover
/// only at one.
///
/// While pictures change, a key frame is requested when the last one is 10 s old. No request is made for a still
/// screen: its keep-alive pictures and refinements show no change. A key frame that comes for another reason counts
/// too.
public struct RecordedKeyFrames: Sendable {
    /// The longest time that a recording of changing pictures may go without a key frame.
    public static let period = Interval.seconds(10)

    private let period: Interval
    private var codec = TrackFormat.Codec.h264
    /// The time when the last key frame came or was requested.
    private var last: MonotonicTime?
    /// Whether the picture whose units come next shows a change.
    private var showsChange = false

    /// Creates the state for a recording without pictures so far.
    public init(period: Interval = RecordedKeyFrames.period) {
        self.period = period
    }

    /// Records that a picture came at `now`.
    ///
    /// - Returns: Whether the source should be asked for a key frame.
    public mutating func recorded(isRandomAccess: Bool, showsChange: Bool, at now: MonotonicTime) -> Bool {
        guard let last, !isRandomAccess else {
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
    /// - Returns: Whether the source should be asked for a key frame.
    public mutating func recorded(_ message: LinkMessage, at now: MonotonicTime) -> Bool {
        switch message {
        case .picture(let notice):
            showsChange = !notice.damage.isEmpty
            return false
        case .format(let newCodec):
            codec = newCodec
            return false
        case .unit(let bytes):
            guard let facts = codec.coding.facts(of: bytes.dropFirst(MessageHeader.unitMark.count)),
                facts.contains(.content)
            else { return false }
            // The other units of the same picture don't count again.
            defer { showsChange = false }
            return recorded(isRandomAccess: facts.contains(.randomAccess), showsChange: showsChange, at: now)
        default:
            return false
        }
    }
}
