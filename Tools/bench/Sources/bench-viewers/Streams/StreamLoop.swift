import CBench
import Clocks
import Glibc
import MediaTypes
import Threading

/// The loop of the one thread that has all viewers: their connections, and their timers.
final class StreamLoop {
    private static let tick = Interval.milliseconds(10)
    private static let readyLimit = 256
    /// The most bytes that are read from a connection before the next one's turn.
    private static let room = 256 << 10
    /// The number of the mailbox among the numbers of viewers.
    private static let mailbox = UInt64.max

    let viewers: [StreamViewer]
    let table: PictureTable
    let joining: Joining<StreamConnection>
    private let epoll: Int32
    private let pause: Interval
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: StreamLoop.room, alignment: 64)
    private var ready = [UInt64](repeating: 0, count: StreamLoop.readyLimit)
    private var nextTick = MonotonicTime.zero

    /// - Throws: ``BenchFailure`` if the system has no descriptors left.
    init(_ plan: Plan, _ way: StreamWay) throws(BenchFailure) {
        guard cbench_raise_files() >= plan.viewers + 64 else {
            throw BenchFailure("the limit of open files is too low for \(plan.viewers) viewers; raise it (ulimit -n)")
        }
        let table = PictureTable()
        self.table = table
        viewers = (0..<plan.viewers).map { _ in way.viewer(table) }
        pause = plan.pause
        joining = try Joining(plan) { () throws(BenchFailure) in try way.join(plan.address) }
        epoll = cbench_epoll()
        guard epoll >= 0, cbench_epoll_add(epoll, joining.outcomes.wake.descriptor, Self.mailbox) == 0 else {
            throw .system("epoll")
        }
    }

    deinit {
        buffer.deallocate()
        close(epoll)
    }

    /// What all viewers have counted so far.
    var counters: Counters { viewers.reduce(Counters()) { $0 + $1.counters } }

    /// Runs until `deadline`, or until `isDone`, which is asked every 10 ms.
    func run(until deadline: MonotonicTime, orUntil isDone: () -> Bool = { false }) {
        while true {
            let now = look()
            guard now < deadline else { return }
            guard now >= nextTick else { continue }
            nextTick = max(nextTick + Self.tick, now)
            for viewer in viewers { viewer.advance(now: now) }
            if isDone() { return }
        }
    }

    /// Reads what has come, and returns the time.
    private func look() -> MonotonicTime {
        if pause > .zero { cbench_sleep(pause.nanoseconds) }
        var now = MonotonicTime.now()
        // A descriptor that is still ready comes again after all others, so this ends as soon as all are empty, or
        // after a look at each.
        for _ in 0...(viewers.count / Self.readyLimit) {
            let count = Int(cbench_epoll_wait(epoll, &ready, Int32(Self.readyLimit), pause > .zero ? 0 : 5))
            now = MonotonicTime.now()
            for place in 0..<max(0, count) {
                let number = ready[place]
                if number == Self.mailbox {
                    startJoined()
                } else {
                    let viewer = viewers[Int(truncatingIfNeeded: number)]
                    if !viewer.isOver { viewer.receive(into: buffer, now: now) }
                }
            }
            if count < Self.readyLimit { break }
        }
        return now
    }

    private func startJoined() {
        joining.outcomes.wake.consume()
        for outcome in joining.outcomes.take() {
            let viewer = viewers[outcome.viewer]
            viewer.start(outcome)
            if viewer.descriptor >= 0 { _ = cbench_epoll_add(epoll, viewer.descriptor, UInt64(outcome.viewer)) }
        }
    }
}
