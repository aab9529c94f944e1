import LockOrder
import Signalling

/// Counts the track's readers that are not viewers and can't draw the pointer, and tells the room. Any thread.
final class PointerlessReaders: Sendable {
    private struct Counts {
        var recordings = 0
        var applications = 0
        var others = 0
        var all: Int { recordings + applications + others }
    }

    private let counts = RankedMutex(Counts(), .pointerlessReaders)
    private let room: String
    private let track: String
    private let signalling: SignallingServer

    init(room: String, track: String, signalling: SignallingServer) {
        self.room = room
        self.track = track
        self.signalling = signalling
    }

    /// The number of such readers.
    var count: Int { counts.withLock { $0.all } }

    /// Changes the number of an application's readers.
    func applications(by difference: Int) { change { $0.applications += difference } }
    /// Sets the number of recordings of the link.
    func recordings(_ count: Int) { change { $0.recordings = count } }

    /// Sets the number of readers that only the application knows of.
    func others(_ count: Int) { change { $0.others = min(max(0, count), 1 << 20) } }

    private func change(_ change: (inout Counts) -> Void) {
        // Told under the lock, so that the room hears the latest count last. The call only posts to the room's thread.
        counts.withLock { counts in
            let before = counts.all
            change(&counts)
            if counts.all != before { signalling.setPlainReaders(counts.all, room: room, track: track) }
        }
    }
}
