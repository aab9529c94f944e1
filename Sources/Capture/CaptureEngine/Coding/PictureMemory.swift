import MediaTypes
import VideoEncoding

/// The pictures that viewers' decoders keep, so that a return to a window, a page or a workspace that was visible a
/// moment ago costs next to nothing.
///
/// When much of the screen changes after a rest, the previous picture is kept. When the screen then shows a kept
/// picture, the new one is predicted from it, and only the differences are coded. A macroblock counts as equal if all
/// of its samples are, and if it doesn't become coarser than it is now: still content mustn't flicker.
///
/// The value has no clock.
struct PictureMemory {
    private struct Kept {
        var hashes: [UInt64]
        var qps: [UInt8]
        /// The number of the switch in which it was last kept or recalled.
        var lastUse: Int
    }

    /// The pictures to keep and to recall before a picture is coded.
    struct ReferenceSwitch {
        /// The place in which to keep the previous picture, and the place of the picture to go on from.
        var kept: Int?
        var recalled: Int?
        /// If a picture is recalled: its quantizers, and the differences from it.
        var qps: [UInt8] = []
        var motion: GlobalMotion?
    }

    private let count: Int
    private let hashes: MacroblockHashes
    private var places: [Kept?]
    /// The place of the picture that the screen has gone on from.
    private var current: Int?
    private var switches = 0
    private var lastLarge = MonotonicTime.zero

    /// A picture that stood for less time belongs to a motion, and the screen doesn't return to it.
    private static let rest = Interval.milliseconds(250)
    /// The macroblocks that are looked at before all are.
    private static let samples = 32

    /// Creates a memory of `places` pictures of `columns` by `rows` macroblocks.
    init(columns: Int, rows: Int, places: Int) {
        count = columns * rows
        hashes = MacroblockHashes(columns: columns, rows: rows)
        self.places = Array(repeating: nil, count: places)
    }

    /// Forgets all pictures, because a key frame clears viewers' memory as well.
    mutating func removeAll() {
        for place in places.indices { places[place] = nil }
        current = nil
    }

    /// Decides what to keep and what to recall before a picture is coded; nil if nothing changes about either.
    ///
    /// - Parameters:
    ///   - previous: The picture before, all of which viewers have.
    ///   - motion: What differs from it.
    ///   - qps: How finely the picture before was coded.
    mutating func referenceSwitch(
        to picture: SourcePlanes, from previous: SourcePlanes, _ motion: borrowing GlobalMotion, _ qps: [UInt8],
        at now: MonotonicTime
    ) -> ReferenceSwitch? {
        // Fewer changes cost little, and mustn't push out a page.
        guard !places.isEmpty, motion.codedCount + motion.movedCount >= count / 8 else { return nil }
        defer { lastLarge = now }
        guard motion.codedCount >= count / 8 else { return nil }
        let found = recall(picture, motion, qps)
        // What has moved is coded from the previous picture, which is about as cheap.
        guard found != nil || motion.movedCount == 0 && now - lastLarge >= Self.rest else { return nil }
        switches += 1
        var change = ReferenceSwitch()
        if let found {
            change.recalled = found.place
            change.motion = found.motion
            change.qps = places[found.place]?.qps ?? []
            places[found.place]?.lastUse = switches
        }
        let place = current ?? places.firstIndex { $0 == nil } ?? found?.place ?? oldest
        places[place] = Kept(hashes: hashes.all(of: previous), qps: qps, lastUse: switches)
        change.kept = place
        current = found?.place == place ? nil : found?.place
        return change
    }

    private var oldest: Int {
        places.indices.min { (places[$0]?.lastUse ?? 0) < (places[$1]?.lastUse ?? 0) } ?? 0
    }

    /// Finds the place whose picture differs least from `picture`, if less than half is left to code.
    private func recall(
        _ picture: SourcePlanes, _ motion: borrowing GlobalMotion, _ qps: [UInt8]
    ) -> (place: Int, motion: GlobalMotion)? {
        let candidates = places.indices.filter { isLikely($0, picture, motion) }
        if candidates.isEmpty { return nil }
        let now = hashes.all(of: picture)
        var best: (place: Int, motion: GlobalMotion)?
        for place in candidates {
            guard let kept = places[place] else { continue }
            var left = GlobalMotion(x: 0, y: 0, macroblocks: count)
            for index in 0..<count {
                let isStill = motion.states[index] == GlobalMotion.State.still.rawValue
                let isCoarser = isStill && qps[index] < kept.qps[index]
                guard now[index] != kept.hashes[index] || isCoarser else { continue }
                left.states[index] = GlobalMotion.State.coded.rawValue
                left.codedCount += 1
            }
            if left.codedCount < best?.motion.codedCount ?? (motion.codedCount / 2) { best = (place, left) }
        }
        return best
    }

    /// Whether some of the macroblocks that have changed are as they were in a kept picture.
    private func isLikely(_ place: Int, _ picture: SourcePlanes, _ motion: borrowing GlobalMotion) -> Bool {
        guard let kept = places[place] else { return false }
        let step = max(1, motion.codedCount / Self.samples)
        var (seen, same) = (0, 0)
        for index in 0..<count where motion.states[index] == GlobalMotion.State.coded.rawValue {
            seen += 1
            if seen % step == 0, hashes.hash(index, of: picture) == kept.hashes[index] { same += 1 }
        }
        return same * 4 >= Self.samples
    }
}
