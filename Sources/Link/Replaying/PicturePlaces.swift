import CaptureLink
import H264
import MediaTypes

/// Where a recording's pictures begin, and when each of its messages is due where the file has no times.
struct PicturePlaces: Sendable {
    /// Where one message stands.
    struct Place {
        /// From the recording's beginning.
        let time: Interval
        /// Whether a picture begins with it.
        let beginsPicture: Bool
    }

    private let period: Interval
    /// How many pictures have begun.
    private(set) var count: UInt64 = 0
    private var lastTime = Interval.zero
    // Of the extended form.
    private var isOpen = false
    private var hasNALUnit = false
    private var epoch: UInt64 = 0
    private var captureTime: MonotonicTime?
    /// Where a dump's capture times and the time of the replay meet, for one epoch.
    private var clock: (epoch: UInt64, capture: MonotonicTime, time: Interval)?
    // Of the legacy forms.
    private var parameterSets = ParameterSets()
    private var lastSlice: SliceHeader?
    private var hasSlice = false
    private var isFirst = true

    /// Pictures without times are `period` apart.
    init(period: Interval) {
        self.period = period
    }

    /// Another connection begins: its first picture is a new one.
    mutating func beginConnection() {
        isOpen = false
        parameterSets = ParameterSets()
        lastSlice = nil
        hasSlice = false
        isFirst = true
    }

    /// Where the next message of the recording stands.
    mutating func place(_ message: ReplayMessage) -> Place {
        let begins = message.isExtended ? beginsExtended(message) : beginsLegacy(message)
        if begins { count &+= 1 }
        // A clock that was read by two threads may be a little out of order, and a dump's may be any.
        if let time = message.time {
            lastTime = max(lastTime, time)
        } else if message.isExtended {
            lastTime = timeOfCapture(message, beginsPicture: begins)
        } else if begins, count > 1 {
            lastTime = lastTime + period
        }
        return Place(time: lastTime, beginsPicture: begins)
    }

    /// A dump of ours has no arrival times, but says when its pictures were taken.
    private mutating func timeOfCapture(_ message: ReplayMessage, beginsPicture: Bool) -> Interval {
        guard let capture = message.header.captureTime else { return lastTime }
        if let clock, clock.epoch == message.header.epoch {
            // What a dump says is not to be trusted: no picture waits longer than the longest silence of a capture.
            let time = clock.time + (capture - clock.capture)
            return min(max(lastTime, time), lastTime + Self.longestSilence)
        }
        clock = (message.header.epoch, capture, lastTime)
        return lastTime
    }

    private static let longestSilence = Interval.seconds(10)

    private mutating func beginsExtended(_ message: ReplayMessage) -> Bool {
        let header = message.header
        let isNALUnit = header.kind == .nalUnit
        guard isNALUnit || header.kind == .picture else { return false }
        let isOther =
            !isOpen || header.epoch != epoch || hasNALUnit && (!isNALUnit || header.captureTime != captureTime)
        if isOther { hasNALUnit = false }
        epoch = header.epoch
        if isNALUnit {
            captureTime = header.captureTime
            hasNALUnit = true
        }
        isOpen = !(isNALUnit && header.flags.contains(.endOfAccessUnit))
        return isOther
    }

    /// As the receiver of a legacy stream finds them (ITU-T H.264 sections 7.4.1.2.3 and 7.4.1.2.4).
    private mutating func beginsLegacy(_ message: ReplayMessage) -> Bool {
        let wasFirst = isFirst
        isFirst = false
        guard let nalUnit = message.nalUnit, let first = nalUnit.first, let header = NALUnitHeader(first) else {
            return wasFirst
        }
        if header.type.isParameterSet { _ = try? parameterSets.insert(nalUnit) }
        if header.type.startsAccessUnit {
            let begins = wasFirst || hasSlice
            lastSlice = nil
            hasSlice = false
            return begins
        }
        if header.type.isSlice { hasSlice = true }
        guard header.type.beginsWithSliceHeader,
            let slice = try? SliceHeader(nalUnit: nalUnit, parameterSets: parameterSets)
        else { return wasFirst }
        let before = lastSlice
        lastSlice = slice
        guard let before else { return wasFirst }
        return wasFirst || isFirstOfNewPicture(previous: before, next: slice)
    }
}
