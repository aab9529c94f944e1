import CaptureLink
import CodecTable
import MediaTypes

/// Finds where a recording's pictures begin, and computes when each message is due if the file has no times.
struct PicturePlaces: Sendable {
    /// The place of one message.
    struct Place {
        /// The time since the recording's beginning.
        let time: Interval
        /// Whether the message begins a picture.
        let beginsPicture: Bool
    }

    private let period: Interval
    /// The number of pictures that have begun.
    private(set) var count: UInt64 = 0
    /// The codec of the stream at this place.
    private(set) var codec = TrackFormat.Codec.h264
    private var lastTime = Interval.zero
    // State for messages in the extended form.
    private var isOpen = false
    private var hasUnit = false
    private var epoch: UInt64 = 0
    private var captureTime: MonotonicTime?
    /// For each stream, the capture time of a dump that corresponds to a time of the replay, for one epoch.
    private var clocks: [UInt8: Clock] = [:]
    private struct Clock {
        let epoch: UInt64
        let capture: MonotonicTime
        var time: Interval
    }
    // State for messages in the legacy forms.
    private var legacy = TrackFormat.Codec.h264.coding.makeBuilder()
    private var isFirst = true

    /// Creates the state; pictures without times are `period` apart.
    init(period: Interval) {
        self.period = period
    }

    /// Begins another connection, whose first picture is a new one.
    mutating func beginConnection() {
        isOpen = false
        codec = .h264
        legacy.reset()
        isFirst = true
    }

    /// The place of the recording's next message.
    mutating func place(_ message: ReplayMessage) -> Place {
        if message.header.kind == .format, message.header.stream == 0,
            let new = message.payload.first.flatMap(TrackFormat.Codec.init), new.kind == .video
        {
            codec = new
        }
        let begins = message.isExtended ? beginsExtended(message) : beginsLegacy(message)
        if begins { count &+= 1 }
        // Times that two threads took may be slightly out of order, and a dump's times may be arbitrary.
        if let time = message.time {
            lastTime = max(lastTime, time)
        } else if message.isExtended {
            lastTime = timeOfCapture(message, beginsPicture: begins)
        } else if begins, count > 1 {
            lastTime = lastTime + period
        }
        return Place(time: lastTime, beginsPicture: begins)
    }

    /// The time of a message in a dump in the extended form, which has no arrival times but has capture times.
    private mutating func timeOfCapture(_ message: ReplayMessage, beginsPicture: Bool) -> Interval {
        guard let capture = message.header.captureTime else { return lastTime }
        let stream = message.header.stream
        if let clock = clocks[stream], clock.epoch == message.header.epoch {
            // A dump's times aren't trusted: no picture waits longer than the longest silence of a capture. What a
            // pause has more is left out for all that follows, pictures and sound alike.
            let time = clock.time + (capture - clock.capture)
            let latest = lastTime + Self.maxSilence
            // So far behind, it was another time that was wrong.
            guard time >= lastTime - Self.maxSilence else {
                clocks[stream] = Clock(epoch: clock.epoch, capture: capture, time: lastTime)
                return lastTime
            }
            guard time > latest else { return max(lastTime, time) }
            for (key, clock) in clocks { clocks[key]?.time = clock.time - (time - latest) }
            return latest
        }
        clocks[stream] = Clock(epoch: message.header.epoch, capture: capture, time: lastTime)
        return lastTime
    }

    private static let maxSilence = Interval.seconds(10)

    private mutating func beginsExtended(_ message: ReplayMessage) -> Bool {
        let header = message.header
        let isUnit = header.kind == .unit
        guard header.stream == 0, isUnit || header.kind == .picture else { return false }
        let isOther =
            !isOpen || header.epoch != epoch || hasUnit && (!isUnit || header.captureTime != captureTime)
        if isOther { hasUnit = false }
        epoch = header.epoch
        if isUnit {
            captureTime = header.captureTime
            hasUnit = true
        }
        isOpen = !(isUnit && header.flags.contains(.endOfFrame))
        return isOther
    }

    /// Finds pictures the way the receiver of a legacy stream does.
    private mutating func beginsLegacy(_ message: ReplayMessage) -> Bool {
        defer { isFirst = false }
        guard message.header.kind == .unit else { return isFirst }
        let hasEnded = legacy.addUnmarked(Array(message.payload))
        while legacy.next() != nil {}
        return isFirst || hasEnded
    }
}
