import MediaTypes
import RTP

/// The packets of one viewer's video, put in order by their headers: which pictures are whole, and which packets are
/// missing.
///
/// A picture is whole if all packets from the end of the one before to its own marker arrived, repeated or not. Without
/// losses, a packet touches nothing but a few numbers here.
struct ReceivedStream {
    /// A whole picture.
    struct Picture {
        let timestamp: UInt32
        /// When its last packet arrived.
        var arrival: MonotonicTime
    }

    private struct Slot {
        enum State: UInt8 { case empty, received, missing, lost }
        var state = State.empty
        var isMarked = false
        var requests: UInt8 = 0
        var timestamp: UInt32 = 0
        /// When the packet arrived, or was missed or requested.
        var time = MonotonicTime.zero
    }

    /// The packets between the oldest missing one and the newest one; a power of two.
    private static let window: Int64 = 1024
    /// How often a packet is requested, and when: after it is missed, after a request, and after the last one until it
    /// is given up.
    private static let maxRequests: UInt8 = 3
    private static let (firstWait, wait, lastWait): (Interval, Interval, Interval) = (
        .milliseconds(10), .milliseconds(50), .milliseconds(200)
    )

    let source: UInt32
    /// Whole pictures that weren't removed yet.
    var whole: [Picture] = []
    /// Packets that neither arrived nor were given up.
    private(set) var missingCount = 0
    private(set) var lostPackets = 0
    private(set) var brokenPictures = 0

    /// The oldest number that is still expected; all before it are done with.
    private var next: Int64
    private var highest: Int64
    /// Numbers from `next` to `highest`; empty until a packet is missed for the first time.
    private var slots: [Slot] = []
    private var current: Picture?
    private var isBroken = false
    private var isAfterLoss = false
    private var lastTimestamp: UInt32?

    /// A stream whose first packet, which is not received by this, has this number.
    init(source: UInt32, first number: UInt16) {
        self.source = source
        next = Int64(number)
        highest = next - 1
    }

    /// Receives a packet, or its repetition. Returns false if it is a duplicate.
    mutating func receive(
        _ number: UInt16, timestamp: UInt32, isMarked: Bool, arrival: MonotonicTime, now: MonotonicTime
    ) -> Bool {
        let extended = highest + Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest)))
        guard extended >= next else { return false }
        if extended == next, highest < next {
            highest = extended
            next += 1
            consume(timestamp, isMarked, arrival)
            return true
        }
        if slots.isEmpty { slots = [Slot](repeating: Slot(), count: Int(Self.window)) }
        // What is too old to wait for is given up.
        while extended - next >= Self.window { giveUpNext() }
        if extended > highest {
            var missed = max(highest + 1, next)
            while missed < extended {
                slots[Self.place(missed)] = Slot(state: .missing, time: now)
                missingCount += 1
                missed += 1
            }
            highest = extended
        } else {
            switch slots[Self.place(extended)].state {
            case .missing: missingCount -= 1
            case .lost, .empty: break
            case .received: return false
            }
        }
        slots[Self.place(extended)] = Slot(
            state: .received, isMarked: isMarked, timestamp: timestamp, time: arrival)
        consumeReady()
        return true
    }

    /// Appends the numbers to request now, and gives up those that were requested in vain.
    mutating func collectMissing(now: MonotonicTime, into numbers: inout [SequenceNumber]) {
        guard missingCount > 0 else { return }
        var number = next
        while number <= highest {
            let place = Self.place(number)
            if slots[place].state == .missing {
                let requests = slots[place].requests
                let wait = requests == 0 ? Self.firstWait : requests < Self.maxRequests ? Self.wait : Self.lastWait
                if now - slots[place].time >= wait {
                    if requests == Self.maxRequests {
                        slots[place].state = .lost
                        missingCount -= 1
                    } else {
                        slots[place].requests += 1
                        slots[place].time = now
                        numbers.append(SequenceNumber(UInt16(truncatingIfNeeded: number)))
                    }
                }
            }
            number += 1
        }
        consumeReady()
    }

    private static func place(_ number: Int64) -> Int { Int(number & (window - 1)) }

    /// Gives up the oldest expected packet, if it isn't there.
    private mutating func giveUpNext() {
        let place = Self.place(next)
        let slot = slots[place]
        slots[place].state = .empty
        switch slot.state {
        case .received: consume(slot.timestamp, slot.isMarked, slot.time)
        case .missing:
            missingCount -= 1
            lose()
        case .lost, .empty: lose()
        }
        next += 1
        highest = max(highest, next - 1)
    }

    private mutating func consumeReady() {
        while next <= highest {
            let place = Self.place(next)
            let slot = slots[place]
            switch slot.state {
            case .received: consume(slot.timestamp, slot.isMarked, slot.time)
            case .lost: lose()
            case .missing, .empty: return
            }
            slots[place].state = .empty
            next += 1
        }
    }

    private mutating func lose() {
        lostPackets += 1
        isAfterLoss = true
        if current != nil { isBroken = true }
    }

    private mutating func consume(_ timestamp: UInt32, _ isMarked: Bool, _ arrival: MonotonicTime) {
        defer { isAfterLoss = false }
        if let picture = current, picture.timestamp == timestamp {
            if arrival > picture.arrival { current?.arrival = arrival }
        } else {
            // The last picture's end was lost.
            if current != nil { brokenPictures += 1 }
            // Padding after a picture has the picture's timestamp.
            if current == nil, timestamp == lastTimestamp { return }
            current = Picture(timestamp: timestamp, arrival: arrival)
            // After a loss, nothing shows whether this is the picture's first packet.
            isBroken = isAfterLoss
        }
        guard isMarked, let picture = current else { return }
        if isBroken { brokenPictures += 1 } else { whole.append(picture) }
        current = nil
        lastTimestamp = timestamp
    }
}
