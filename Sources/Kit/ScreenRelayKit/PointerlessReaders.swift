import Signalling
import Synchronization

/// Counts the track's readers that are not viewers and can't draw the pointer, and tells the room. Any thread.
final class PointerlessReaders: Sendable {
    private struct Counts {
        var recordings = 0
        var others = 0
        var all: Int { recordings + others }
    }

    private let state = Mutex<(counts: Counts, server: SignallingServer?)>((Counts(), nil))
    private let room: String
    private let track: String

    init(room: String, track: String) {
        self.room = room
        self.track = track
    }

    func connect(_ server: SignallingServer) {
        state.withLock { state in
            state.server = server
            if state.counts.all != 0 { tell(state.counts.all, to: server) }
        }
    }

    /// The number of such readers.
    var count: Int { state.withLock { $0.counts.all } }

    /// Sets the number of recordings of the link.
    func recordings(_ count: Int) { change { $0.recordings = count } }

    /// Sets the number of readers that only the application knows of.
    func others(_ count: Int) { change { $0.others = min(max(0, count), 1 << 20) } }

    private func change(_ change: (inout Counts) -> Void) {
        // Called under the lock, so that the room hears the latest count last. The call only posts to the room's
        // thread.
        state.withLock { state in
            let before = state.counts.all
            change(&state.counts)
            if state.counts.all != before, let server = state.server { tell(state.counts.all, to: server) }
        }
    }

    private func tell(_ count: Int, to server: SignallingServer) {
        server.setPlainReaders(count, room: room, track: track)
    }
}
