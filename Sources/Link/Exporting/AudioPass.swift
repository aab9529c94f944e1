public import MediaTypes
import Opus

/// The sound of the second pass over a recording: returns the packets that belong between the pictures of
/// ``ExportPass``.
///
/// Each part's sound begins with its first picture and has no gaps, because many players place sound by counting its
/// samples: where the recording has none, packets of silence are put in. A packet that overlaps the one before it is
/// left out. At most 10 s of packets wait for a picture, and silence is made packet by packet, so memory is bounded.
public struct AudioPass: Sendable {
    /// A packet to be written to a file.
    public struct Packet: Sendable {
        /// The index of the plan's part that it belongs to.
        public let part: Int
        /// The packet, in Opus.
        public let bytes: [UInt8]
        /// The time of its first sample, from the part's beginning.
        public let time: Interval
        /// The length of its sound.
        public let duration: Interval
        /// Whether it was put in where the recording has no sound.
        public let isSilence: Bool
    }

    /// The most packets that wait for a picture. After 10 s without one, sound is written all the same.
    private static let waitingLimit = 1000
    /// How far a packet may be from its time before silence is put in or it is left out.
    private static let tolerance = Interval.milliseconds(5)
    /// How much silence is put in at most, so that false times fill no disk. After that, a gap stays a gap.
    private static let silenceLimit = Interval.seconds(12 * 3600)
    /// How far apart packets of silence in a gap that stays one are: MP4 can tell steps of 12 hours at 48 kHz.
    private static let maxStep = Interval.seconds(40_000)

    private let plan: ExportPlan
    private var index = 0
    private var waiting: [TimedAudio] = []
    private var part = 0
    private var nextPart = 0
    /// The time before which sound can be written; nil before the first picture.
    private var limit: Interval?
    /// The time up to which the current part has sound.
    private var end: Interval
    private var silenceLeft = Self.silenceLimit

    /// Creates a pass for a plan of the same recording.
    public init(_ plan: ExportPlan) {
        self.plan = plan
        end = plan.parts.first?.start ?? .zero
    }

    /// Whether the plan's last packet has been added.
    public var isDone: Bool { index >= plan.soundCount }

    /// Takes the next packet of the recording.
    public mutating func add(_ sound: TimedAudio) {
        index += 1
        guard plan.mayContain(sound) else { return }
        if limit == nil, waiting.count == Self.waitingLimit { waiting.removeFirst() }
        waiting.append(sound)
    }

    /// Says that a picture of `part` with this decoding time is written next, after the packets that ``next()``
    /// returns.
    public mutating func reach(part: Int, decodingTime: Interval) {
        guard plan.parts.indices.contains(part) else { return }
        nextPart = part
        let start = plan.parts[part].start
        limit = part == self.part ? start + decodingTime : start
    }

    /// Says that no picture follows.
    public mutating func finish() {
        limit = Interval(nanoseconds: .max)
    }

    /// The next packet that can be written; nil if there is none before the next picture.
    public mutating func next() -> Packet? {
        while let sound = waiting.first, isDue(sound) {
            let gap = sound.time - end
            if isInPart(sound), gap >= Self.tolerance { return silence(in: gap) }
            waiting.removeFirst()
            if isInPart(sound), gap > .zero - Self.tolerance { return packet(sound.packet, lasting: sound.duration) }
        }
        if part < nextPart {
            part = nextPart
            end = plan.parts[part].start
        }
        return nil
    }

    private func isDue(_ sound: TimedAudio) -> Bool {
        guard let limit else { return false }
        return sound.time < limit || waiting.count > Self.waitingLimit
    }

    private func isInPart(_ sound: TimedAudio) -> Bool {
        guard plan.parts.indices.contains(part), plan.parts[part].soundChannels > 0 else { return false }
        let isBeforeNext = part + 1 == plan.parts.count || sound.time < plan.parts[part + 1].start
        return sound.time >= plan.parts[part].start && isBeforeNext
    }

    private mutating func packet(_ bytes: [UInt8], lasting duration: Interval, isSilence: Bool = false) -> Packet {
        defer { end = end + duration }
        return Packet(
            part: part, bytes: bytes, time: end - plan.parts[part].start, duration: duration, isSilence: isSilence)
    }

    private mutating func silence(in gap: Interval) -> Packet {
        let frame = OpusPacket.silentFrame
        let count = min((gap + frame / 2).nanoseconds / frame.nanoseconds, Int64(OpusPacket.silentFrameLimit))
        let duration = frame * count
        let begin = end
        let bytes = OpusPacket.silence(frameCount: Int(count))
        let silence = packet(bytes, lasting: duration, isSilence: true)
        if silenceLeft > .zero {
            silenceLeft = silenceLeft - duration
        } else {
            end = begin + max(duration, min(gap, Self.maxStep))
        }
        return silence
    }
}
