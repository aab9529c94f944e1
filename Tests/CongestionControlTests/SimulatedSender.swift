import CongestionControl
import MediaTypes
import TestSupport

/// A source of pictures with a pacer, which obeys the plan of its congestion controller.
///
/// It makes a picture each 33 ms at the planned rate while the source moves, leaves one out while others wait, and
/// gives up what has waited for 200 ms.
struct SimulatedSender {
    struct Source {
        /// The seconds at which the source moves; it stands still otherwise.
        var moves: [Range<Double>] = [0..<1e9]
        /// The highest rate of the source, in bits per second.
        var most = 1e9
        /// The size of the first picture of each movement, a key frame or a repaint.
        var firstByteCount = 30_000
        /// No picture has fewer bytes than this, however little the plan leaves to it: then the next one is made when
        /// the path has had the time for these.
        var minByteCount = 100

        func isMoving(at time: Int64) -> Bool {
            for range in moves where range.contains(Double(time) / 1e9) { return true }
            return false
        }
    }

    private struct Waiting {
        var byteCount: Int
        var madeAt: Int64
        var isLast: Bool
    }

    let flow: Int
    let start: Int64
    var controller: CongestionController
    private(set) var plan: SendingPlan
    private(set) var sentByteCount = 0
    private(set) var paddingByteCount = 0
    private(set) var skippedPictures = 0
    private let source: Source
    private var random: SeededRandom
    private var waiting: [Waiting] = []
    private var head = 0
    private var waitingByteCount = 0
    private var credit = 0.0
    /// The number of the next packet.
    private(set) var number = 0
    private var reportAt: Int64
    private var pictureAt: Int64
    /// The path has had the time for the last picture then.
    private var carriedAt: Int64 = 0
    private var plannedAt: Int64 = -1_000_000_000
    private var wasMoving = false

    init(
        flow: Int, start: Int64 = 0, source: Source, limits: CongestionController.Limits = .init(),
        probes: Bool = true, seed: UInt64
    ) {
        self.flow = flow
        self.start = start
        self.source = source
        random = SeededRandom(seed: seed)
        pictureAt = start
        reportAt = start
        controller = CongestionController(
            limits: limits, probes: probes, at: MonotonicTime(nanoseconds: start))
        plan = controller.plan(waiting: 0, at: MonotonicTime(nanoseconds: start))
    }

    /// Does what is due in the millisecond that ends now; packets go to `link`.
    mutating func advance(to now: Int64, link: inout SimulatedLink) {
        guard now >= start else { return }
        if now >= pictureAt {
            pictureAt += 33_333_333
            makePicture(at: now)
        }
        if now >= reportAt, number > 0 {
            reportAt = now + 1_000_000_000
            link.send(SimulatedPacket(flow: flow, number: nil, byteCount: 100, sentAt: now), at: now)
        }
        guard head < waiting.count || plan.probe != nil || now - plannedAt >= 10_000_000 else { return }
        plannedAt = now
        let time = MonotonicTime(nanoseconds: now)
        plan = controller.plan(waiting: waitingByteCount, at: time)
        let step = Double(plan.pacingRate.bitsPerSecond) / 8000
        credit = min(credit + step, max(2400, 2 * step))
        while credit > 0 {
            if head < waiting.count {
                let packet = waiting[head]
                head += 1
                waitingByteCount -= packet.byteCount
                if now - packet.madeAt > 200_000_000, plan.pacingRate < plan.estimate {
                    if packet.isLast { skippedPictures += 1 }
                    continue
                }
                send(packet.byteCount, endsPictureOf: packet.isLast ? packet.madeAt : nil, at: now, link: &link)
            } else if plan.probe != nil {
                paddingByteCount += 1200
                send(1200, endsPictureOf: nil, at: now, link: &link)
            } else {
                credit = min(credit, 0)
                break
            }
            if plan.probe != nil { plan = controller.plan(waiting: waitingByteCount, at: time) }
        }
        if head == waiting.count, head > 0 {
            waiting.removeAll(keepingCapacity: true)
            head = 0
        }
    }

    private mutating func send(
        _ byteCount: Int, endsPictureOf picture: Int64?, at now: Int64, link: inout SimulatedLink
    ) {
        credit -= Double(byteCount)
        controller.packetSent(byteCount: byteCount, at: MonotonicTime(nanoseconds: now))
        link.send(
            SimulatedPacket(
                flow: flow, number: number, byteCount: byteCount, sentAt: now, endsPictureOf: picture), at: now)
        number += 1
        sentByteCount += byteCount
    }

    private mutating func makePicture(at now: Int64) {
        let isMoving = source.isMoving(at: now)
        defer { wasMoving = isMoving }
        guard isMoving else { return }
        let backlog = Double(waitingByteCount) * 8 / Double(max(plan.pacingRate.bitsPerSecond, 1))
        guard backlog < 0.05, now >= carriedAt else {
            skippedPictures += 1
            return
        }
        let share = min(Double(plan.target.bitsPerSecond), source.most) / 8 / 30
        let noise = 0.7 + 0.6 * Double(random.next() >> 11) / 9_007_199_254_740_992
        var left = wasMoving ? max(Int(share * noise), source.minByteCount) : source.firstByteCount
        waitingByteCount += left
        if wasMoving, Double(source.minByteCount) > share {
            // Time for other packets too, and for the queue to drain.
            let rate = Double(max(plan.target.bitsPerSecond, 1))
            carriedAt = now + Int64(1.15 * Double(left) * 8e9 / rate)
        }
        while left > 0 {
            let byteCount = min(left, 1200)
            left -= byteCount
            waiting.append(Waiting(byteCount: byteCount, madeAt: now, isLast: left == 0))
        }
    }
}
