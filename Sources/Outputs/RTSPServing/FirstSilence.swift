import MediaTypes
import Opus
import RTSP

/// When a player that begins in a silence gets packets of it.
///
/// Players show nothing before they have looked at each stream that the description names: those made with FFmpeg need
/// one packet, mpv needs enough to begin to play. So silence goes out until they have begun, without gaps.
struct FirstSilence {
    /// How long a packet is, and how long after each other they go.
    static let length = Interval.milliseconds(100)
    /// Players have begun after 1.5 s, GStreamer's after 2.5 s.
    private static let count = 40

    /// When the next packet of silence is sent; in the distant future for none.
    private(set) var due = MonotonicTime.distantFuture
    private var left = 0

    /// The player begins, and waits for sound for `timeout`. Where there is any, a packet comes each 20 ms.
    mutating func begin(at now: MonotonicTime, after timeout: Interval) { (due, left) = (now + timeout, Self.count) }

    /// There is sound, or the player has paused.
    mutating func end() { due = .distantFuture }

    /// The moment at which the silence begins that is sent at `now`; nil for none. It is over by then, so that sound
    /// that is captured after it, and takes a little while to come here, doesn't begin before it.
    mutating func next(at now: MonotonicTime) -> MonotonicTime? {
        guard now >= due else { return nil }
        let start = due - Self.length
        left -= 1
        // Where there was no room for long, nothing is made up for.
        due = left > 0 ? max(due, now - Self.length) + Self.length : .distantFuture
        return start
    }
}

extension RTSPMedia {
    /// A packet of silence; nil for pictures.
    var silence: [UInt8]? {
        switch self {
        case .pictures: nil
        case .pcmu: [UInt8](repeating: 0xFF, count: Int(clockRate.ticks(in: FirstSilence.length)))
        case .opus:
            OpusPacket.silence(
                frameCount: Int(FirstSilence.length.nanoseconds / OpusPacket.silentFrame.nanoseconds))
        }
    }
}
