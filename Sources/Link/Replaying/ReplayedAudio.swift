import CaptureLink

/// The state that a replay keeps of a recording's sound, whose messages it otherwise passes on unchanged.
///
/// The sound may have arrived over its own connection, whose beginning a recording doesn't show. Each start of its
/// capture has an epoch, and begins unmuted.
struct ReplayedAudio: Sendable {
    private var epoch: UInt64?
    /// The latest skipped messages of these kinds since the epoch began.
    private var format: ReplayMessage?
    private var sharing: ReplayMessage?
    /// Whether the host was last told that the sharer has muted the sound.
    private var isMuted = false

    /// Begins a pass, before any sound.
    mutating func beginPass() { begin(nil) }

    /// Notes a message that is skipped, because it is before the start of the replay.
    mutating func skip(_ message: ReplayMessage) {
        if message.header.epoch != epoch { begin(message.header.epoch) }
        switch message.header.kind {
        case .format: format = message
        case .sharing: sharing = message
        default: break
        }
    }

    /// Returns the state at the start of the replay, to be sent there.
    mutating func takeState() -> [ReplayMessage] {
        defer { begin(nil) }
        return [format, sharing].compactMap { $0 }
    }

    /// Notes a message that is sent next. Returns whether the host must first be told that the sound isn't muted any
    /// more, because it was when the previous epoch ended.
    mutating func send(_ message: ReplayMessage) -> Bool {
        var owesLive = false
        if message.header.epoch != epoch {
            begin(message.header.epoch)
            owesLive = isMuted
            isMuted = false
        }
        if message.header.kind == .sharing, let state = message.payload.first {
            isMuted = state != SharingState.live.rawValue
        }
        return owesLive
    }

    private mutating func begin(_ newEpoch: UInt64?) { (epoch, format, sharing) = (newEpoch, nil, nil) }
}
