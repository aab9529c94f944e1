import MediaFiles
import MediaTypes

/// The pace of a file, which is read at that of its own clock: when each piece is due, and in which order.
///
/// A file may have sound long before the pictures that belong to it. Such sound waits, since pictures that waited for
/// it would be late. A value without I/O; the time is an argument.
struct FilePace {
    /// The most audio packets that wait; some seconds.
    private static let maxSound = 256
    /// Sound that is due so long after what came before has a wrong time, and is left out: all would wait for it.
    private static let maxGap = Interval.seconds(10)

    private var start: (real: MonotonicTime, media: Interval)?
    private var sound: [MediaReader.Piece] = []

    /// Takes the next piece of the file, and returns those that are due next, in this order.
    mutating func add(_ piece: MediaReader.Piece, now: MonotonicTime) -> [MediaReader.Piece] {
        if start == nil, let due = piece.due { start = (now, due) }
        if case .sound = piece.content {
            sound.append(piece)
            guard sound.count > Self.maxSound else { return [] }
            let first = sound.removeFirst()
            return due(first) - now > Self.maxGap ? [] : [first]
        }
        let latest = piece.due ?? Interval(nanoseconds: .min)
        let count = sound.prefix { ($0.due ?? latest) <= latest }.count
        defer { sound.removeFirst(count) }
        return sound.prefix(count) + [piece]
    }

    /// Returns the sound that waits, at the end of the file.
    mutating func finish(now: MonotonicTime) -> [MediaReader.Piece] {
        defer { sound = [] }
        var latest = now
        return sound.filter { piece in
            guard due(piece) - latest <= Self.maxGap else { return false }
            latest = max(latest, due(piece))
            return true
        }
    }

    /// When a piece is due; the past if it has no time.
    func due(_ piece: MediaReader.Piece) -> MonotonicTime {
        guard let start, let due = piece.due else { return .zero }
        return start.real + (due - start.media)
    }
}
