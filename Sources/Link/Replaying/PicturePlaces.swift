import CaptureLink
import H264
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
    private var lastTime = Interval.zero
    // State for messages in the extended form.
    private var isOpen = false
    private var hasNALUnit = false
    private var epoch: UInt64 = 0
    private var captureTime: MonotonicTime?
    /// The capture time of a dump that corresponds to a time of the replay, for one epoch.
    private var clock: (epoch: UInt64, capture: MonotonicTime, time: Interval)?
    // State for messages in the legacy forms.
    private var parameterSets = ParameterSets()
    private var lastSlice: SliceHeader?
    private var hasSlice = false
    private var isFirst = true

    /// Creates the state; pictures without times are `period` apart.
    init(period: Interval) {
        self.period = period
    }

    /// Begins another connection, whose first picture is a new one.
    mutating func beginConnection() {
        isOpen = false
        parameterSets = ParameterSets()
        lastSlice = nil
        hasSlice = false
        isFirst = true
    }

    /// The place of the recording's next message.
    mutating func place(_ message: ReplayMessage) -> Place {
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
        if let clock, clock.epoch == message.header.epoch {
            // A dump's times aren't trusted: no picture waits longer than the longest silence of a capture.
            let time = clock.time + (capture - clock.capture)
            return min(max(lastTime, time), lastTime + Self.longestSilence)
        }
        clock = (message.header.epoch, capture, lastTime)
        return lastTime
    }

    private static let longestSilence = Interval.seconds(10)

    private mutating func beginsExtended(_ message: ReplayMessage) -> Bool {
        let header = message.header
        let isNALUnit = header.kind == .unit
        guard isNALUnit || header.kind == .picture else { return false }
        let isOther =
            !isOpen || header.epoch != epoch || hasNALUnit && (!isNALUnit || header.captureTime != captureTime)
        if isOther { hasNALUnit = false }
        epoch = header.epoch
        if isNALUnit {
            captureTime = header.captureTime
            hasNALUnit = true
        }
        isOpen = !(isNALUnit && header.flags.contains(.endOfFrame))
        return isOther
    }

    /// Finds pictures the way the receiver of a legacy stream does (ITU-T H.264 sections 7.4.1.2.3 and 7.4.1.2.4).
    private mutating func beginsLegacy(_ message: ReplayMessage) -> Bool {
        let wasFirst = isFirst
        isFirst = false
        guard let nalUnit = message.unit, let first = nalUnit.first, let header = NALUnitHeader(first) else {
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
