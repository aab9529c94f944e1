public import MediaTypes

/// One viewer's position on the common timeline of a ``PictureTable``.
///
/// A host shows the pictures that are there when a viewer joins, and those that it repeats to one that has fallen
/// behind, a millisecond or a tick apart (``maxRepeatStep``). Their timestamps are only this viewer's: two viewers
/// that join at the same time get them at the same time, with equal steps between them, and yet they aren't the same
/// pictures. So such pictures neither show where a viewer is on the timeline, nor become new pictures on it.
public struct ViewerTimeline {
    /// A picture of which a viewer has everything.
    struct Whole {
        let timestamp: UInt32
        let arrival: MonotonicTime
    }

    /// The longest step, in ticks of 90 kHz, after which a picture is one that the host has repeated. The step is also
    /// that short between two pictures that the host got at once; they count for no viewer.
    private static let maxRepeatStep: Int32 = 2 * 90
    /// So many pictures in a row must fit the timeline.
    private static let minRun = 4
    /// After so many that fit at several places, as the intervals between them are equal, the place is the one that
    /// their times of arrival suggest. The wrong one would do no harm then: all ticks are those of a known picture.
    private static let maxRun = 32

    /// What to add to a timestamp to get the tick on the common timeline; nil before it is known.
    public private(set) var offset: UInt32?
    /// The last pictures before the offset is known, without those that were repeated.
    private var run: [Whole] = []
    private var lastWhole: UInt32?
    /// The highest timestamp.
    private var newest: UInt32?
    /// The picture of which a packet came last, and its place, if it is on the timeline.
    private var latest: (timestamp: UInt32, place: Int?)?

    /// A viewer that has no picture yet.
    public init() {}

    /// Notes a packet of the picture with this timestamp: the picture counts from its first packet on, whether it
    /// becomes whole or not.
    public mutating func notePacket(of timestamp: UInt32, in table: PictureTable) {
        guard latest?.timestamp != timestamp else { return }
        let isNew = newest.map { Self.isNew(timestamp, after: $0) } ?? false
        if newest.map({ Self.step(from: $0, to: timestamp) > 0 }) ?? true { newest = timestamp }
        let place = offset.flatMap { offset in
            isNew ? table.place(of: timestamp &+ offset) : table.knownPlace(of: timestamp &+ offset)
        }
        latest = (timestamp, place)
    }

    /// Notes that the viewer has all of the picture with this timestamp, of which it has noted a packet. Returns
    /// whether the picture counts.
    public mutating func noteWhole(_ timestamp: UInt32, at arrival: MonotonicTime, in table: PictureTable) -> Bool {
        if offset == nil { align(Whole(timestamp: timestamp, arrival: arrival), with: table) }
        lastWhole = timestamp
        guard let offset else { return false }
        let place = latest?.timestamp == timestamp ? latest?.place : table.knownPlace(of: timestamp &+ offset)
        return place.map { table.noteWhole($0, at: arrival) } ?? false
    }

    /// Each session has timestamps of its own, but the same differences between them. So the offset is found by the
    /// pictures before: it is right if all of them are on the timeline with it, and with no other one. A picture is
    /// compared when the next one is there, as the others have it by then.
    private mutating func align(_ picture: Whole, with table: PictureTable) {
        guard !table.takeOrigin() else { return offset = 0 }
        guard let lastWhole, Self.isNew(picture.timestamp, after: lastWhole) else { return }
        run.append(picture)
        let compared = run.dropLast()
        guard compared.count >= Self.minRun else { return }
        let fitting = table.offsets(fitting: compared)
        if fitting.isEmpty {
            // The others haven't got one of them.
            run.removeFirst(run.count - Self.minRun)
        } else if fitting.count == 1 || compared.count >= Self.maxRun {
            offset = fitting[0]
            run = []
        }
    }

    private static func step(from earlier: UInt32, to later: UInt32) -> Int32 { Int32(bitPattern: later &- earlier) }

    /// Whether a picture after the one with the timestamp `earlier` is one that wasn't repeated.
    private static func isNew(_ timestamp: UInt32, after earlier: UInt32) -> Bool {
        step(from: earlier, to: timestamp) > maxRepeatStep
    }
}
