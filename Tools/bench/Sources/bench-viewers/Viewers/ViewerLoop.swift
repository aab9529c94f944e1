import CBench
import Clocks
import MediaTypes
import SecureTransport
import Threading

/// The loop of the one thread that has all viewers: their sockets, and their timers.
final class ViewerLoop {
    /// The interval of timers. The viewers take turns: a tenth of them reports in each.
    private static let tick = Interval.milliseconds(10)
    private static let turns = 10
    private static let readyLimit = 256
    /// The number of the mailbox among the numbers of viewers.
    private static let mailbox = UInt64.max

    let viewers: [Viewer]
    let surroundings: ViewerSurroundings
    private let joining: Joining
    private let epoll: Int32
    private let pause: Interval
    /// What turns the kernel's arrival times into CLOCK_MONOTONIC.
    private let clockOffset = unixOffsetOfMonotonicClock()
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: Int(cbench_batch * cbench_room), alignment: 64)
    private let datagrams = UnsafeMutablePointer<cbench_datagram>.allocate(capacity: Int(cbench_batch))
    private var ready = [UInt64](repeating: 0, count: ViewerLoop.readyLimit)
    private var restless: [Viewer] = []
    private var nextTick = MonotonicTime.zero
    private var turn = 0

    /// - Throws: ``BenchFailure`` if the system has no descriptors left, or `SecureTransportError`.
    init(_ plan: Plan) throws {
        guard cbench_raise_files() >= plan.viewers + 64 else {
            throw BenchFailure("the limit of open files is too low for \(plan.viewers) viewers; raise it (ulimit -n)")
        }
        let certificate = try Certificate()
        let surroundings = ViewerSurroundings(plan, context: try DTLSContext(certificate: certificate))
        self.surroundings = surroundings
        joining = try Joining(plan, fingerprint: certificate.fingerprint.sdpValue)
        pause = plan.pause
        viewers = (0..<plan.viewers).map { index in
            Viewer(surroundings, isSample: plan.sample > 0 && index % plan.sample == 0)
        }
        epoll = cbench_epoll()
        guard epoll >= 0, cbench_epoll_add(epoll, joining.outcomes.wake.descriptor, Self.mailbox) == 0 else {
            throw BenchFailure.system("epoll")
        }
    }

    deinit {
        buffer.deallocate()
        datagrams.deallocate()
    }

    /// Lets the viewers join while the loop runs. Call ``Joining/stop()`` of the result, and join its threads, later.
    func startJoining() -> (joining: Joining, threads: [NamedThread]) { (joining, joining.start()) }

    /// What all viewers have counted so far.
    var counters: Counters {
        var sum = viewers.reduce(Counters()) { $0 + $1.counters }
        for viewer in viewers {
            sum.lostPackets += viewer.stream?.lostPackets ?? 0
            sum.brokenPictures += viewer.stream?.brokenPictures ?? 0
            if viewer.descriptor >= 0 { sum.drops += Int(cbench_drops(viewer.descriptor)) }
        }
        return sum
    }

    /// Runs until `deadline`, or until `isDone`, which is asked every 10 ms.
    func run(until deadline: MonotonicTime, orUntil isDone: () -> Bool = { false }) {
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
        // A descriptor that is still ready comes again after all others, so this ends as soon as all are empty, or
        // after a look at each.
        for _ in 0...(viewers.count / Self.readyLimit) {
            let count = Int(cbench_epoll_wait(epoll, &ready, Int32(Self.readyLimit), pause > .zero ? 0 : 5))
            now = MonotonicTime.now()
            for place in 0..<max(0, count) {
                let number = ready[place]
                if number == Self.mailbox {
                    startAnswered(now: now)
                } else {
                    receive(viewers[Int(truncatingIfNeeded: number)], now: now)
                }
            }
            if count < Self.readyLimit { break }
        }
        return now
    }

    private func startAnswered(now: MonotonicTime) {
        joining.outcomes.wake.consume()
        for outcome in joining.outcomes.take() {
            let viewer = viewers[outcome.viewer]
            viewer.start(outcome, now: now)
            if viewer.descriptor >= 0 { _ = cbench_epoll_add(epoll, viewer.descriptor, UInt64(outcome.viewer)) }
            list(viewer)
        }
    }

    private func receive(_ viewer: Viewer, now: MonotonicTime) {
        let count = Int(cbench_receive(viewer.descriptor, buffer, datagrams))
        for place in 0..<max(0, count) {
            let datagram = datagrams[place]
            let bytes = UnsafeRawBufferPointer(
                start: buffer + place * Int(cbench_room), count: Int(datagram.count))
            // Without a time of the kernel's, now is the best guess.
            let arrival = datagram.arrival == 0 ? now : MonotonicTime(nanoseconds: datagram.arrival) - clockOffset
            viewer.receive(bytes, arrival: arrival, now: now)
        }
        if !viewer.isListed { list(viewer) }
    }

    /// Looks after a viewer every 10 ms as long as it is restless.
    private func list(_ viewer: Viewer) {
        guard viewer.isRestless, !viewer.isListed else { return }
        viewer.isListed = true
        restless.append(viewer)
    }

    private func advance(now: MonotonicTime) {
        turn = (turn + 1) % Self.turns
        for index in stride(from: turn, to: viewers.count, by: Self.turns) {
            viewers[index].advance(now: now)
            viewers[index].report(now: now)
        }
        restless.removeAll { viewer in
            viewer.advance(now: now)
            viewer.requestMissing(now: now)
            viewer.isListed = viewer.isRestless
            return !viewer.isListed
        }
    }
}
