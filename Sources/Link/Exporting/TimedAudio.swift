import CaptureLink
public import MediaTypes
import Opus

/// A packet of a recording's sound, and its time.
public struct TimedAudio: Sendable {
    /// The packet, in Opus.
    public let packet: [UInt8]
    /// How long it is.
    public let duration: Interval
    /// Whether it is coded in stereo.
    public let isStereo: Bool
    /// The time of its first sample since the recording began, on the pictures' clock.
    public let time: Interval
}

/// How the latest picture got its time.
struct PictureClock: Sendable {
    /// The picture's time since the recording began.
    var time: Interval
    /// What was added to its capture time; nil if it was placed otherwise.
    var shift: Interval?
}

/// Gives the packets of a recording's sound their times.
///
/// Sound and pictures are captured by the same clock. So what is added to the capture times of the pictures is added to
/// those of the sound as well, and both stay in step. If pictures have their times of arrival, sound has too.
struct AudioTimes: Sendable {
    /// The most packets that wait for the first picture; older ones are dropped, because they come before it.
    private static let waitingLimit = 1000

    /// A packet and its time of arrival.
    private struct Arrival: Sendable {
        let frame: AssembledFrame
        let packet: OpusPacket
        let time: Interval?
    }

    private var assembler = FrameAssembler(stream: MessageHeader.soundStream)
    private var waiting: [Arrival] = []
    private var ready: [TimedAudio] = []
    private var clock = ArrivalClock()

    /// Takes a message of the sound. `pictures` is nil before the first picture.
    mutating func add(_ message: ReceivedMessage, arrival: Interval?, by pictures: PictureClock?) {
        assembler.add(message, at: .zero)
        while let sound = assembler.next() {
            guard let unit = sound.frame.units.first, let packet = OpusPacket(sound.frame.bytes[unit]) else { continue }
            if waiting.count == Self.waitingLimit { waiting.removeFirst() }
            waiting.append(Arrival(frame: sound, packet: packet, time: arrival))
        }
        if let pictures { place(by: pictures) }
    }

    /// Gives the packets that wait their times.
    mutating func place(by pictures: PictureClock) {
        for sound in waiting {
            guard let unit = sound.frame.frame.units.first else { continue }
            ready.append(
                TimedAudio(
                    packet: Array(sound.frame.frame.bytes[unit]), duration: sound.packet.duration,
                    isStereo: sound.packet.isStereo, time: time(of: sound, by: pictures)))
        }
        waiting.removeAll()
    }

    /// The next packet; nil if none is ready.
    mutating func next() -> TimedAudio? { ready.isEmpty ? nil : ready.removeFirst() }

    private mutating func time(of sound: Arrival, by pictures: PictureClock) -> Interval {
        let expected = sound.time.map { $0 - sound.packet.duration }
        guard let captureTime = sound.frame.frame.captureTime else { return expected ?? pictures.time }
        let captured = captureTime - MonotonicTime.zero
        if let shift = pictures.shift, TimedPictures.isCredible(captured + shift, arrival: sound.time) {
            return captured + shift
        }
        return clock.place(captured, epoch: sound.frame.epoch, expected: expected, pictures: pictures.time)
    }
}

/// Places audio packets by their arrival, and keeps the intervals between them as they were captured, as a host does
/// with the sound of a replay.
private struct ArrivalClock: Sendable {
    /// How much too early a packet may come.
    private static let clockError = Interval.milliseconds(10)
    /// How much too late a packet may come, for example behind a large picture.
    private static let maxDelay = Interval.milliseconds(100)

    private var epoch: UInt64?
    private var shift = Interval.zero

    /// The time of a packet from its capture time. A dump has no times of arrival, so its sound goes on from the latest
    /// picture's time.
    mutating func place(_ captured: Interval, epoch: UInt64, expected: Interval?, pictures: Interval) -> Interval {
        let placed = captured + shift
        if epoch == self.epoch {
            guard let expected else { return placed }
            if placed - expected <= Self.clockError, expected - placed <= Self.maxDelay { return placed }
        }
        self.epoch = epoch
        shift = (expected ?? pictures) - captured
        return expected ?? pictures
    }
}
