import CaptureLink

/// What a replay has to know of a recording's sound, whose messages it otherwise passes on as they are.
///
/// The sound may have come over a connection of its own, of which a recording doesn't tell the beginning. Each start of
/// its capture has an epoch, and begins unmuted.
struct ReplayedAudio: Sendable {
    private var epoch: UInt64?
    /// The latest messages of these kinds since the epoch began, of those that were skipped.
    private var format: ReplayMessage?
    private var sharing: ReplayMessage?
    /// Whether the host was last told that the sharer has muted the sound.
    private var isMuted = false

    /// Begins a pass: nothing of the sound has come yet.
    mutating func beginPass() { begin(nil) }

    /// Takes a message before the start of the replay.
    mutating func skip(_ message: ReplayMessage) {
        if message.header.epoch != epoch { begin(message.header.epoch) }
        switch message.header.kind {
        case .format: format = message
        case .sharing: sharing = message
        default: break
        }
    }

    /// Returns what was set before the start of the replay, to be sent there.
    mutating func takeState() -> [ReplayMessage] {
        defer { begin(nil) }
        return [format, sharing].compactMap { $0 }
    }

    /// Takes a message that is sent next. Returns whether the host must hear first that the sound isn't muted any more,
    /// because it was when the epoch before ended.
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
