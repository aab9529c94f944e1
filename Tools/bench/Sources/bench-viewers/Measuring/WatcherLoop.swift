import CBench
import Clocks
import Glibc
import MediaTypes
import Threading

/// The loop of the one thread that has all viewers: their descriptors, and their timers; subclasses have the viewers.
class WatcherLoop<Joined: Sendable> {
    private static var tick: Interval { .milliseconds(10) }
    /// The number of the mailbox among the numbers of viewers.
    private static var mailbox: UInt64 { .max }

    let joining: Joining<Joined>
    let epoll: Int32
    private let viewerCount: Int
    private let pause: Interval
    private var ready = [UInt64](repeating: 0, count: 256)
    private var nextTick = MonotonicTime.zero

    /// - Throws: ``BenchFailure`` if the system has no descriptors left.
    init(_ plan: Plan, _ joining: Joining<Joined>) throws(BenchFailure) {
        guard cbench_raise_files() >= plan.viewers + 64 else {
            throw BenchFailure("the limit of open files is too low for \(plan.viewers) viewers; raise it (ulimit -n)")
        }
        self.joining = joining
        viewerCount = plan.viewers
        pause = plan.pause
        epoll = cbench_epoll()
        guard epoll >= 0, cbench_epoll_add(epoll, joining.outcomes.wake.descriptor, Self.mailbox) == 0 else {
            throw .system("epoll")
        }
    }

    deinit {
        close(epoll)
    }

    // MARK: For subclasses

    /// Begins with a viewer that has joined, or has failed to. Returns its descriptor; -1 without one.
    func start(_ outcome: Joining<Joined>.Outcome, now: MonotonicTime) -> Int32 { -1 }

    /// Reads what has come for the viewer with this number.
    func receive(_ viewer: Int, now: MonotonicTime) {}

    /// Does what is due after each look at the descriptors.
    func deliver(now: MonotonicTime) {}

    /// Does what is due. Called every 10 ms.
    func advance(now: MonotonicTime) {}

    // MARK: The loop

    /// Runs until `deadline`, or until `isDone`, which is asked every 10 ms.
    final func run(until deadline: MonotonicTime, orUntil isDone: () -> Bool = { false }) {
        while true {
            let now = look()
            guard now < deadline else { return }
            guard now >= nextTick else { continue }
            nextTick = max(nextTick + Self.tick, now)
            advance(now: now)
            if isDone() { return }
        }
    }

    /// Takes what has come, and returns the time.
    private func look() -> MonotonicTime {
        if pause > .zero { cbench_sleep(pause.nanoseconds) }
        var now = MonotonicTime.now()
        let limit = ready.count
        // A descriptor that is still ready comes again after all others, so this ends as soon as all are empty, or
        // after a look at each.
        for _ in 0...(viewerCount / limit) {
            let count = Int(cbench_epoll_wait(epoll, &ready, Int32(limit), pause > .zero ? 0 : 5))
            now = MonotonicTime.now()
            for place in 0..<max(0, count) {
                let number = ready[place]
                if number == Self.mailbox {
                    startJoined(now: now)
                } else {
                    receive(Int(truncatingIfNeeded: number), now: now)
                }
            }
            if count < limit { break }
        }
        deliver(now: now)
        return now
    }

    private func startJoined(now: MonotonicTime) {
        joining.outcomes.wake.consume()
        for outcome in joining.outcomes.take() {
            let descriptor = start(outcome, now: now)
            if descriptor >= 0 { _ = cbench_epoll_add(epoll, descriptor, UInt64(outcome.viewer)) }
        }
    }
}
