public import CaptureLink
public import H264
public import MediaTypes

/// The summary of a whole stream. Its memory is bounded: it holds counts, extremes, and short lists with a limit.
public struct StreamSummary: Sendable {
    /// A longest or largest value and its place.
    public struct Extreme: Hashable, Sendable {
        /// The value in nanoseconds, bytes or pictures.
        public var value: Int64
        /// The number of the picture with this value.
        public var picture: UInt64
        /// The picture's offset in the file or connection, in bytes.
        public var offset: UInt64
        /// The picture's time; nil if the stream has no times.
        public var time: Interval?
    }

    /// The minimum, maximum and mean of a number.
    public struct Spread: Hashable, Sendable {
        /// The number of values.
        public private(set) var count: UInt64 = 0
        /// The minimum; 0 if there are no values.
        public private(set) var least: Int64 = 0
        /// The maximum; 0 if there are no values.
        public private(set) var greatest: Int64 = 0
        private var sum = 0.0

        /// The mean; 0 if there are no values.
        public var mean: Double { count == 0 ? 0 : sum / Double(count) }

        mutating func add(_ value: Int64) {
            least = count == 0 ? value : min(least, value)
            greatest = count == 0 ? value : max(greatest, value)
            sum += Double(value)
            count &+= 1
        }
    }

    /// The number of faults of one kind, and the first of them.
    public struct FaultCount: Sendable {
        /// The number of faults.
        public var count: UInt64
        /// The first fault.
        public var first: InspectionFault
    }

    /// An SPS, the offset of its first occurrence, and the number of its occurrences.
    public struct SequenceCount: Sendable {
        /// The parsed SPS.
        public var sequence: SequenceParameterSet
        /// The offset of the message with its first occurrence, in bytes.
        public var offset: UInt64
        /// The number of its occurrences.
        public var count: UInt64
    }

    /// What there is of sound.
    public struct Audio: Hashable, Sendable {
        /// The number of packets.
        public internal(set) var packets: UInt64 = 0
        /// The number of bytes in the packets' payloads.
        public internal(set) var bytes: UInt64 = 0
        /// The length of all packets together; silence that was not sent doesn't count.
        public internal(set) var duration = Interval.zero
    }

    /// The largest number of entries in a list.
    public static let listLimit = 16

    /// The sound. Its messages count nowhere else.
    public private(set) var sound = Audio()
    /// The number of messages by the code of their kind. NAL units are kind 0.
    public private(set) var messages: [UInt8: UInt64] = [:]
    /// Whether there were any messages of the link, including legacy forms.
    public private(set) var hasLinkMessages = false
    /// The number of NAL units by type.
    public private(set) var nalUnits: [NALUnitType: UInt64] = [:]
    /// The number of bytes in all payloads.
    public private(set) var payloadBytes: UInt64 = 0
    /// The number of capture starts: how often the epoch of NAL units changed to another nonzero value.
    public private(set) var epochs: UInt64 = 0
    /// The senders.
    public private(set) var hellos: [Hello] = []
    /// The reason why the sender ended, if it gave one.
    public internal(set) var ending: EndNotice?
    /// The different SPS, in the order of their first occurrence.
    public private(set) var sequences: [SequenceCount] = []

    /// The number of pictures.
    public private(set) var pictures: UInt64 = 0
    /// The number of pictures by ``InspectedPicture/kindName``.
    public private(set) var pictureKinds: [String: UInt64] = [:]
    /// The number of bytes in the pictures' NAL units, including start codes, parameter sets and SEI.
    public private(set) var pictureBytes: UInt64 = 0
    /// The number of slices in all pictures.
    public private(set) var slices: UInt64 = 0
    /// The picture with the most bytes.
    public private(set) var largest: Extreme?
    /// The number of pictures from one IDR picture to the next.
    public private(set) var idrDistance = Spread()
    /// The nanoseconds from one IDR picture to the next.
    public private(set) var idrInterval = Spread()
    /// For each picture, the sum of its smallest and largest quantizer.
    private var qpSum = Spread()
    /// The smallest and the largest quantizer of a slice.
    public private(set) var qpRange: ClosedRange<Int>?
    /// The damaged share of each picture, in millionths.
    private var damage = Spread()

    /// The time of the first picture that has one.
    public private(set) var firstTime: Interval?
    /// The time of the last picture that has one.
    public private(set) var lastTime: Interval?
    /// The longest time from one picture to the next.
    public private(set) var maxGap: Extreme?
    /// The number of picture bytes in the busiest whole second.
    public private(set) var peakSecondBytes: UInt64 = 0

    /// The faults by code.
    public private(set) var faults: [InspectionFault.Code: FaultCount] = [:]
    /// The offset at which the stream ended; nil before.
    public internal(set) var endOffset: UInt64?
    /// Whether it is a recording without an end record: the recorder was killed or is still running.
    public internal(set) var lacksEnd = false

    private var lastEpoch: UInt64 = 0
    private var lastIDR: (number: UInt64, time: Interval?)?
    private var second: Int64 = 0
    private var secondBytes: UInt64 = 0

    /// Creates an empty summary.
    public init() {}

    /// The time from the first picture to the last.
    public var duration: Interval? {
        guard let firstTime, let lastTime, lastTime > firstTime else { return nil }
        return lastTime - firstTime
    }

    /// The number of pictures per second between the first and the last.
    public var pictureRate: Double? { duration.map { Double(pictures - 1) / $0.seconds } }
    /// The bit rate of the pictures in bits per second.
    public var bitRate: Double? { duration.map { Double(pictureBytes) * 8 / $0.seconds } }
    /// The mean quantizer of the pictures.
    public var meanQP: Double? { qpSum.count == 0 ? nil : qpSum.mean / 2 }
    /// The mean damaged share of a picture, 0...1, if the sender gave the damage.
    public var meanDamage: Double? { damage.count == 0 ? nil : damage.mean / 1e6 }
    /// The number of faults.
    public var faultCount: UInt64 { faults.values.reduce(0) { $0 &+ $1.count } }

    mutating func note(_ row: InspectedMessage) {
        if row.stream == MessageHeader.soundStream { return noteSound(row) }
        messages[row.kindCode, default: 0] &+= 1
        payloadBytes &+= row.size
        if !row.isAnnexB { hasLinkMessages = true }
        if let type = row.nalUnitType { nalUnits[type, default: 0] &+= 1 }
        // Only NAL units count, because the hello of a replay has an epoch of its own.
        if row.epoch != 0, row.kindCode == MessageKind.unit.rawValue, row.epoch != lastEpoch {
            lastEpoch = row.epoch
            epochs &+= 1
        }
    }

    private mutating func noteSound(_ row: InspectedMessage) {
        guard let duration = row.duration else { return }
        sound.packets &+= 1
        sound.bytes &+= row.size
        sound.duration = sound.duration + duration
    }

    mutating func note(_ hello: Hello) {
        if hellos.count < Self.listLimit, !hellos.contains(hello) { hellos.append(hello) }
    }

    mutating func note(_ sequence: SequenceParameterSet, at offset: UInt64) {
        if let index = sequences.firstIndex(where: { $0.sequence == sequence }) {
            sequences[index].count &+= 1
        } else if sequences.count < Self.listLimit {
            sequences.append(SequenceCount(sequence: sequence, offset: offset, count: 1))
        }
    }

    mutating func note(_ fault: InspectionFault) {
        faults[fault.code, default: FaultCount(count: 0, first: fault)].count &+= 1
    }

    mutating func note(_ picture: InspectedPicture) {
        pictures &+= 1
        pictureKinds[picture.kindName, default: 0] &+= 1
        pictureBytes &+= picture.size
        slices &+= UInt64(picture.slices)
        if Int64(clamping: picture.size) > largest?.value ?? -1 {
            largest = extreme(Int64(clamping: picture.size), picture)
        }
        if let qps = picture.qps {
            qpSum.add(Int64(qps.lowerBound + qps.upperBound))
            let old = qpRange ?? qps
            qpRange =
                min(old.lowerBound, qps.lowerBound)...max(old.upperBound, qps.upperBound)
        }
        if let area = picture.damage, let size = sequences.last?.sequence.size {
            let share = Double(area.width) * Double(area.height) / (Double(size.width) * Double(size.height))
            damage.add(Int64(min(1, share) * 1e6))
        }
        if picture.isIDR { noteIDR(picture) }
        if let time = picture.time { note(time, picture) }
    }

    private mutating func noteIDR(_ picture: InspectedPicture) {
        if let lastIDR {
            idrDistance.add(Int64(clamping: picture.number &- lastIDR.number))
            if let time = picture.time, let last = lastIDR.time { idrInterval.add((time - last).nanoseconds) }
        }
        lastIDR = (picture.number, picture.time)
    }

    private mutating func note(_ time: Interval, _ picture: InspectedPicture) {
        if firstTime == nil { firstTime = time }
        if let lastTime {
            let gap = (time - lastTime).nanoseconds
            if gap > maxGap?.value ?? 0 { maxGap = extreme(gap, picture) }
        }
        lastTime = time
        let index = time.nanoseconds / 1_000_000_000
        if index != second { secondBytes = 0 }
        second = index
        secondBytes &+= picture.size
        peakSecondBytes = max(peakSecondBytes, secondBytes)
    }

    private func extreme(_ value: Int64, _ picture: InspectedPicture) -> Extreme {
        Extreme(value: value, picture: picture.number, offset: picture.offset, time: picture.time)
    }
}
