import CaptureLink
import H264

/// The state set by the messages before the start of a replay: size, sharing state, pointer and parameter sets.
struct SkippedState: Sendable {
    private var latest: [UInt8: ReplayMessage] = [:]
    private(set) var parameterSets = ParameterSets()
    private static let kinds: [MessageKind] = [.size, .sharing, .pointerShape, .pointerPosition]

    /// The latest message of each kind, in the order in which a capture sends them.
    var controls: [ReplayMessage] { Self.kinds.compactMap { latest[$0.rawValue] } }

    /// Takes a message that is skipped.
    mutating func note(_ message: ReplayMessage) {
        guard let kind = message.header.kind else { return }
        if kind == .hello {
            // This is another capture, so the state of the last one no longer applies.
            self = SkippedState()
        } else if Self.kinds.contains(kind) {
            latest[kind.rawValue] = message
        } else if let nalUnit = message.unit, let type = message.unitType,
            NALUnitType(rawValue: type).isParameterSet
        {
            // No picture can depend on a parameter set that can't be parsed.
            _ = try? parameterSets.insert(nalUnit)
        }
    }
}
