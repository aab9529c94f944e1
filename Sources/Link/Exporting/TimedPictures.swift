import CaptureLink
import CodecTable
public import MediaTypes
public import Recording

/// Assembles the pictures of a recording and the packets of its sound, and assigns a time to each.
///
/// The time of a picture is its capture time if its messages have one, otherwise its arrival time. Files without times
/// get evenly spaced times. Times count from the recording's beginning and always increase. Uses no threads, no clock
/// and no I/O.
public struct TimedPictures: Sendable {
    /// A frame and its time.
    public struct Picture: Sendable {
        /// The coded frame.
        public let frame: CodedFrame
        /// Its codec.
        public let codec: TrackFormat.Codec
        /// The time since the recording began.
        public let time: Interval
        /// The file offset of its first message.
        public let offset: UInt64

        /// Creates a picture from a frame that was assembled elsewhere.
        public init(frame: CodedFrame, codec: TrackFormat.Codec = .h264, time: Interval, offset: UInt64) {
            self.frame = frame
            self.codec = codec
            self.time = time
            self.offset = offset
        }
    }

    /// The smallest time between two pictures: one tick of Matroska's clock, which is the coarsest, so that no two have
    /// the same time in a file.
    static let minStep = Interval.milliseconds(1)
    /// The longest credible delay between capture and arrival. If it is exceeded, the capture time is on another clock.
    private static let maxDelay = Interval.seconds(10)

    /// The number of frames that were left out after damage, up to the next key frame.
    public private(set) var skipped: UInt64 = 0

    private let framesPerSecond: Int
    private var assembler = FrameAssembler()
    private var ready: [Picture] = []
    private var count: Int64 = 0
    private var lastTime: Interval?
    private var gate = RandomAccessGate(isClosed: false)
    /// Whether any unit has been added.
    private var hasUnit = false
    private var lastContentCount = 0
    private var start: Start?
    /// The interval that is added to capture times, because each start of capture has its own clock.
    private var clock: (epoch: UInt64, shift: Interval)?
    private var sound = AudioTimes()
    private var pictureClock: PictureClock?

    /// The place and time at which the current frame began.
    private struct Start: Sendable {
        var offset: UInt64
        var arrival: Interval?
    }

    /// Creates an assembler. Files without times are given `framesPerSecond` pictures per second.
    public init(framesPerSecond: Int) {
        self.framesPerSecond = max(1, framesPerSecond)
    }

    /// Takes the next item of the file. Pass it consumed if possible, because a message's bytes are copied.
    public mutating func add(_ item: consuming RecordedItem) {
        let own = Start(offset: item.offset, arrival: item.arrival)
        switch item.content {
        case .connection:
            // Nothing is lost before the first unit: what begins without a key frame is exported here as it would be
            // from a stream alone.
            if hasUnit { damaged() }
            assembler = FrameAssembler()
            clock = nil
        case .gap: damaged()
        case .message, .nalUnit, .otherBytes, .end: break
        }
        guard let received = Self.received(consume item) else { return }
        if received.header.stream == MessageHeader.soundStream {
            sound.add(received, arrival: own.arrival, by: pictureClock)
        } else {
            add(received, own)
        }
    }

    /// Converts an item to what a host would receive; nil if it isn't a message to a host. Consuming the item avoids
    /// keeping two copies of a large message.
    private static func received(_ item: consuming RecordedItem) -> ReceivedMessage? {
        switch item.content {
        case .message(let message, .toHost) where message.header.stream <= MessageHeader.soundStream:
            return try? message.received()
        case .nalUnit(let unit):
            let header = MessageHeader(kindCode: MessageKind.unit.rawValue, length: UInt64(unit.payload.count))
            return ReceivedMessage(header: header, form: .legacy40, body: .unit(unit.payload))
        case .message, .otherBytes, .connection, .gap, .end: return nil
        }
    }

    /// Handles missing data: drops the affected picture and all pictures that refer to it.
    public mutating func damaged() {
        assembler.finish()
        while let unit = assembler.next() {
            // Only legacy forms and Annex B return a frame here, because they don't mark its end. The frame is assumed
            // to be complete if it has as many slices as the last one.
            if gate.passes(isRandomAccess: unit.frame.isRandomAccess), unit.contentCount >= lastContentCount {
                give(unit)
            } else {
                skipped &+= 1
            }
        }
        start = nil
        gate.close()
    }

    /// Ends a file that is complete.
    public mutating func finish() {
        assembler.finish()
        drain()
    }

    /// The next picture; nil if none is ready.
    public mutating func next() -> Picture? { ready.isEmpty ? nil : ready.removeFirst() }

    /// The next packet of sound; nil if none is ready. There is none before the first picture, from which the times of
    /// the sound are known.
    public mutating func nextSound() -> TimedAudio? { sound.next() }

    private mutating func add(_ received: ReceivedMessage, _ own: Start) {
        guard case .unit = received.body else { return assembler.add(received, at: .zero) }
        hasUnit = true
        assembler.add(received, at: .zero)
        let isEnd = received.form == .extended && received.header.flags.contains(.endOfFrame)
        if start == nil { start = own }
        if drain() { start = isEnd ? nil : own }
    }

    /// Collects the complete frames, and returns whether there were any.
    @discardableResult
    private mutating func drain() -> Bool {
        var isComplete = false
        while let unit = assembler.next() {
            isComplete = true
            guard gate.passes(isRandomAccess: unit.frame.isRandomAccess) else {
                skipped &+= 1
                continue
            }
            give(unit)
        }
        return isComplete
    }

    private mutating func give(_ unit: AssembledFrame) {
        lastContentCount = unit.contentCount
        let start = start ?? Start(offset: 0)
        let time = time(of: unit, arrival: start.arrival)
        ready.append(Picture(frame: unit.frame, codec: unit.codec, time: time, offset: start.offset))
        count += 1
    }

    private mutating func time(of unit: AssembledFrame, arrival: Interval?) -> Interval {
        var time = arrival ?? Interval(nanoseconds: count * 1_000_000_000 / Int64(framesPerSecond))
        var shift: Interval?
        if let capture = unit.frame.captureTime {
            let taken = capture - MonotonicTime.zero
            if clock?.epoch != unit.epoch {
                // A dump has no arrival times, so a new clock continues where the last one stopped.
                clock = (unit.epoch, (arrival ?? lastTime ?? .zero) - taken)
            }
            let shifted = taken + (clock?.shift ?? .zero)
            if Self.isCredible(shifted, arrival: arrival) {
                time = shifted
                shift = clock?.shift
            }
        }
        if let lastTime { time = max(time, lastTime + Self.minStep) }
        lastTime = time
        let placed = PictureClock(time: time, shift: shift)
        pictureClock = placed
        sound.place(by: placed)
        return time
    }

    /// Whether a capture time, once shifted, may belong to what arrived then.
    static func isCredible(_ shifted: Interval, arrival: Interval?) -> Bool {
        guard let arrival else { return true }
        return (arrival - shifted).nanoseconds.magnitude < maxDelay.nanoseconds.magnitude
    }
}

extension AssembledFrame {
    /// How many of its units hold a part of the picture.
    fileprivate var contentCount: Int {
        frame.units.count { codec.coding.facts(of: frame.bytes[$0])?.contains(.content) == true }
    }
}
