import MediaTypes
import PictureTimeline

/// The loop of viewers whose video comes over TCP.
final class StreamLoop: WatcherLoop<StreamConnection> {
    /// The most bytes that are read from a connection before the next one's turn.
    private static let room = 256 << 10

    let viewers: [StreamViewer]
    let table: PictureTable
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: StreamLoop.room, alignment: 64)

    /// - Throws: ``BenchFailure`` if the system has no descriptors left.
    init(_ plan: Plan, _ way: StreamWay) throws(BenchFailure) {
        let table = PictureTable()
        self.table = table
        viewers = (0..<plan.viewers).map { _ in way.viewer(table) }
        try super.init(plan, Joining(plan) { () throws(BenchFailure) in try way.join(plan.address) })
    }

    deinit {
        buffer.deallocate()
    }

    /// What all viewers have counted so far.
    var counters: Counters { viewers.reduce(Counters()) { $0 + $1.counters } }

    override func start(_ outcome: Joining<StreamConnection>.Outcome, now: MonotonicTime) -> Int32 {
        let viewer = viewers[outcome.viewer]
        viewer.start(outcome)
        return viewer.descriptor
    }

    override func receive(_ viewer: Int, now: MonotonicTime) {
        if !viewers[viewer].isOver { viewers[viewer].receive(into: buffer, now: now) }
    }

    override func advance(now: MonotonicTime) {
        for viewer in viewers { viewer.advance(now: now) }
    }
}
