import CaptureLink
import H264

/// What the messages say that a replay begins behind: the size, whether the sharer shares, the pointer, the parameter sets.
struct SkippedState: Sendable {
    private var latest: [UInt8: ReplayMessage] = [:]
    private(set) var parameterSets = ParameterSets()
    private static let kinds: [MessageKind] = [.size, .sharing, .pointerShape, .pointerPosition]

    /// The latest message of each kind, in the order in which a capture sends them.
    var controls: [ReplayMessage] { Self.kinds.compactMap { latest[$0.rawValue] } }

    /// Takes a message that is not sent.
    mutating func note(_ message: ReplayMessage) {
        guard let kind = message.header.kind else { return }
        if kind == .hello {
            // Another capture: what the last one said holds no more.
            self = SkippedState()
        } else if Self.kinds.contains(kind) {
            latest[kind.rawValue] = message
        } else if let nalUnit = message.nalUnit, let type = message.nalUnitType,
            NALUnitType(rawValue: type).isParameterSet
        {
            // What can't be read no picture can need.
            _ = try? parameterSets.insert(nalUnit)
        }
    }
}
