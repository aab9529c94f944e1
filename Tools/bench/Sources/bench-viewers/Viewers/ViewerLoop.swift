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

    /// All viewers. Those with a path of their own are the first ones.
    let viewers: [Viewer]
    let surroundings: ViewerSurroundings
    private let joining: Joining<Agreement>
    private let epoll: Int32
    private let pause: Interval
    /// What turns the kernel's arrival times into CLOCK_MONOTONIC.
    private let clockOffset = unixOffsetOfMonotonicClock()
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: Int(cbench_batch * cbench_room), alignment: 64)
    private let datagrams = UnsafeMutablePointer<cbench_datagram>.allocate(capacity: Int(cbench_batch))
    private var ready = [UInt64](repeating: 0, count: ViewerLoop.readyLimit)
    private var restless: [Viewer] = []
    /// The viewers with datagrams on their paths.
    private var awaiting: [Viewer] = []
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
            let isOdd = index < plan.ownPaths.count
            return Viewer(
                surroundings, path: EmulatedPath(isOdd ? plan.ownPaths[index] : plan.path, seed: UInt64(index)),
                isOdd: isOdd, isSample: plan.sample > 0 && (index - plan.ownPaths.count) % plan.sample == 0)
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
    func startJoining() -> (joining: Joining<Agreement>, threads: [NamedThread]) { (joining, joining.start()) }

    /// The viewers without a path of their own.
    var rest: [Viewer] { viewers.filter { !$0.isOdd } }
    /// What they have counted so far.
    var counters: Counters { rest.reduce(Counters()) { $0 + Self.counters(of: $1) } }

    /// The viewers with a path of their own, and what each has counted so far.
    var odd: [OddViewer] {
        zip(surroundings.plan.ownPaths, viewers).map { path, viewer in
            OddViewer(path: path.text, hasJoined: viewer.firstPicture != nil, counters: Self.counters(of: viewer))
        }
    }

    private static func counters(of viewer: Viewer) -> Counters {
        var counters = viewer.counters
        counters.lostPackets += viewer.stream?.lostPackets ?? 0
        counters.brokenPictures += viewer.stream?.brokenPictures ?? 0
        if viewer.descriptor >= 0 { counters.drops += Int(cbench_drops(viewer.descriptor)) }
        return counters
    }

    /// Lets viewers stall or go, as their paths say.
    func applyFates() {
        for (path, viewer) in zip(surroundings.plan.ownPaths, viewers) {
            guard let fate = path.fate else { continue }
            // A full socket would always be ready.
            if viewer.descriptor >= 0 { _ = cbench_epoll_remove(epoll, viewer.descriptor) }
            viewer.meet(fate)
        }
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
        deliver(now: now)
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
        let wasAwaiting = viewer.isAwaitingDatagrams
        let count = Int(cbench_receive(viewer.descriptor, buffer, datagrams))
        for place in 0..<max(0, count) {
            let datagram = datagrams[place]
            let bytes = UnsafeRawBufferPointer(
                start: buffer + place * Int(cbench_room), count: Int(datagram.count))
            // Without a time of the kernel's, now is the best guess.
            let arrival = datagram.arrival == 0 ? now : MonotonicTime(nanoseconds: datagram.arrival) - clockOffset
            viewer.receive(bytes, arrival: arrival, now: now)
        }
        if !wasAwaiting, viewer.isAwaitingDatagrams { awaiting.append(viewer) }
        if !viewer.isListed { list(viewer) }
    }

    /// Delivers what has left the viewers' paths.
    private func deliver(now: MonotonicTime) {
        awaiting.removeAll { viewer in
            viewer.deliver(now: now)
            list(viewer)
            return !viewer.isAwaitingDatagrams
        }
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
