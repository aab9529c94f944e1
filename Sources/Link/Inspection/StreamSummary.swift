public import CaptureLink
public import H264
public import MediaTypes

/// What a whole stream comes to. Its memory is bounded: counts, extremes, and short lists with a limit.
public struct StreamSummary: Sendable {
    /// A longest or largest thing, and where.
    public struct Extreme: Hashable, Sendable {
        /// Nanoseconds, bytes or pictures.
        public var value: Int64
        /// The picture that it was found at, its place and time.
        public var picture: UInt64
        public var offset: UInt64
        public var time: Interval?
    }

    /// Least, greatest and sum of a number.
    public struct Spread: Hashable, Sendable {
        public private(set) var count: UInt64 = 0
        public private(set) var least: Int64 = 0
        public private(set) var greatest: Int64 = 0
        private var sum = 0.0

        /// The mean; 0 of nothing.
        public var mean: Double { count == 0 ? 0 : sum / Double(count) }

        mutating func add(_ value: Int64) {
            least = count == 0 ? value : min(least, value)
            greatest = count == 0 ? value : max(greatest, value)
            sum += Double(value)
            count &+= 1
        }
    }

    /// A fault that occurred, how often, and the first of its kind.
    public struct FaultCount: Sendable {
        public var count: UInt64
        public var first: InspectionFault
    }

    /// An SPS that occurred, where first, and how often in a row or not.
    public struct SequenceCount: Sendable {
        public var sequence: SequenceParameterSet
        public var offset: UInt64
        public var count: UInt64
    }

    /// Lists have at most so many entries.
    public static let listLimit = 16

    /// Messages by the code of their kind. NAL units are kind 0.
    public private(set) var messages: [UInt8: UInt64] = [:]
    /// Whether any of them was a message of the link, legacy forms included.
    public private(set) var hasLinkMessages = false
    /// NAL units by type.
    public private(set) var nalUnits: [NALUnitType: UInt64] = [:]
    /// Bytes of all payloads.
    public private(set) var payloadBytes: UInt64 = 0
    /// Starts of capture: epochs other than 0 in a row.
    public private(set) var epochs: UInt64 = 0
    /// Who sent.
    public private(set) var hellos: [Hello] = []
    /// Why the sender ended, where it told.
    public internal(set) var ending: EndNotice?
    /// The different SPS, in the order of their first occurrence.
    public private(set) var sequences: [SequenceCount] = []

    public private(set) var pictures: UInt64 = 0
    /// Pictures by ``InspectedPicture/kindName``.
    public private(set) var pictureKinds: [String: UInt64] = [:]
    public private(set) var pictureBytes: UInt64 = 0
    public private(set) var slices: UInt64 = 0
    public private(set) var largest: Extreme?
    /// Pictures from one IDR picture to the next.
    public private(set) var idrDistance = Spread()
    /// Nanoseconds from one IDR picture to the next.
    public private(set) var idrInterval = Spread()
    /// The quantizers of pictures: of each the mean of its least and greatest, times 2.
    private var quantizerSum = Spread()
    public private(set) var quantizerRange: ClosedRange<Int>?
    /// Shares of pictures that were damaged, in millionths.
    private var damage = Spread()

    public private(set) var firstTime: Interval?
    public private(set) var lastTime: Interval?
    /// The longest time from one picture to the next.
    public private(set) var longestGap: Extreme?
    /// Bytes of pictures in the busiest whole second.
    public private(set) var peakSecondBytes: UInt64 = 0

    /// Faults by code.
    public private(set) var faults: [InspectionFault.Code: FaultCount] = [:]
    /// Where the stream ended, in bytes; nil before.
    public internal(set) var endOffset: UInt64?

    private var lastEpoch: UInt64 = 0
    private var lastIDR: (number: UInt64, time: Interval?)?
    private var second: Int64 = 0
    private var secondBytes: UInt64 = 0

    /// Nothing yet.
    public init() {}

    /// From the first picture to the last.
    public var duration: Interval? {
        guard let firstTime, let lastTime, lastTime > firstTime else { return nil }
        return lastTime - firstTime
    }

    /// Pictures a second between the first and the last.
    public var pictureRate: Double? { duration.map { Double(pictures - 1) / $0.seconds } }
    /// Bits a second of pictures.
    public var bitRate: Double? { duration.map { Double(pictureBytes) * 8 / $0.seconds } }
    /// The mean quantizer of pictures.
    public var meanQuantizer: Double? { quantizerSum.count == 0 ? nil : quantizerSum.mean / 2 }
    /// The mean share of a picture that was damaged, 0...1, where the sender told.
    public var meanDamage: Double? { damage.count == 0 ? nil : damage.mean / 1e6 }
    /// How many faults there were.
    public var faultCount: UInt64 { faults.values.reduce(0) { $0 &+ $1.count } }

    mutating func note(_ row: InspectedMessage) {
        messages[row.kindCode, default: 0] &+= 1
        payloadBytes &+= row.size
        if !row.isAnnexB { hasLinkMessages = true }
        if let type = row.nalUnitType { nalUnits[type, default: 0] &+= 1 }
        if row.epoch != 0, row.epoch != lastEpoch {
            lastEpoch = row.epoch
            epochs &+= 1
        }
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
        if let quantizers = picture.quantizers {
            quantizerSum.add(Int64(quantizers.lowerBound + quantizers.upperBound))
            let old = quantizerRange ?? quantizers
            quantizerRange =
                min(old.lowerBound, quantizers.lowerBound)...max(old.upperBound, quantizers.upperBound)
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
            if gap > longestGap?.value ?? 0 { longestGap = extreme(gap, picture) }
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
