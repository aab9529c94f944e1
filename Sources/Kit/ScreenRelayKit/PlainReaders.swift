import Signalling
import Synchronization

/// Counts those who read the track beside viewers and can't draw the pointer, and tells the room. Any thread.
final class PlainReaders: Sendable {
    private struct Counts {
        var recordings = 0
        var others = 0
        var all: Int { recordings + others }
    }

    private let counts = Mutex(Counts())
    private let signalling: SignallingServer
    private let room: String

    init(_ signalling: SignallingServer, room: String) {
        self.signalling = signalling
        self.room = room
    }

    /// How many there are.
    var count: Int { counts.withLock { $0.all } }

    /// So many recordings of the link go on.
    func recordings(_ count: Int) { change { $0.recordings = count } }

    /// So many read that the application knows of.
    func others(_ count: Int) { change { $0.others = min(max(0, count), 1 << 20) } }

    private func change(_ change: (inout Counts) -> Void) {
        // Told under the lock: the room must hear the last count last. Telling only posts to the room's thread.
        counts.withLock { counts in
            let before = counts.all
            change(&counts)
            if counts.all != before { signalling.updatePointer(.readers(counts.all), room: room) }
        }
    }
}
