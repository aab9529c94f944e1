import CBench
import Clocks
import MediaTypes
import SecureTransport

/// The loop of viewers over WebRTC.
final class ViewerLoop: WatcherLoop<Agreement> {
    /// The viewers take turns: a tenth of them reports every 10 ms.
    private static let turns = 10

    /// All viewers. Those with a path of their own are the first ones.
    let viewers: [Viewer]
    let surroundings: ViewerSurroundings
    /// What turns the kernel's arrival times into CLOCK_MONOTONIC.
    private let clockOffset = Interval.unixOffsetOfMonotonicClock()
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: Int(cbench_batch * cbench_room), alignment: 64)
    private let datagrams = UnsafeMutablePointer<cbench_datagram>.allocate(capacity: Int(cbench_batch))
    private var restless: [Viewer] = []
    /// The viewers with datagrams on their paths.
    private var awaiting: [Viewer] = []
    private var turn = 0

    /// - Throws: ``BenchFailure`` if the system has no descriptors left, or `SecureTransportError`.
    init(_ plan: Plan) throws {
        let certificate = try Certificate()
        let surroundings = ViewerSurroundings(plan, context: try DTLSContext(certificate: certificate))
        self.surroundings = surroundings
        viewers = (0..<plan.viewers).map { index in
            let isOdd = index < plan.ownPaths.count
            return Viewer(
                surroundings, path: EmulatedPath(isOdd ? plan.ownPaths[index] : plan.path, seed: UInt64(index)),
                isOdd: isOdd, isSample: plan.sample > 0 && (index - plan.ownPaths.count) % plan.sample == 0)
        }
        try super.init(plan, Joining(plan, fingerprint: certificate.fingerprint.sdpValue))
        rest.first?.reportsFalsely = plan.hasFalseReports
        if plan.decodes { rest.first?.pictures = PictureSample() }
    }

    deinit {
        buffer.deallocate()
        datagrams.deallocate()
    }

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

    override func start(_ outcome: Joining<Agreement>.Outcome, now: MonotonicTime) -> Int32 {
        let viewer = viewers[outcome.viewer]
        viewer.start(outcome, now: now)
        list(viewer)
        return viewer.descriptor
    }

    override func receive(_ viewer: Int, now: MonotonicTime) {
        let viewer = viewers[viewer]
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
    override func deliver(now: MonotonicTime) {
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

    override func advance(now: MonotonicTime) {
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
