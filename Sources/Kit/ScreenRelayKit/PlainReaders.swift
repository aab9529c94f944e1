import Signalling
import Synchronization

/// Counts those who read the track beside viewers and can't draw the pointer, and tells the room. Any thread.
final class PlainReaders: Sendable {
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

    /// How many there are.
    var count: Int { state.withLock { $0.counts.all } }

    /// So many recordings of the link go on.
    func recordings(_ count: Int) { change { $0.recordings = count } }

    /// So many read that the application knows of.
    func others(_ count: Int) { change { $0.others = min(max(0, count), 1 << 20) } }

    private func change(_ change: (inout Counts) -> Void) {
        // Told under the lock: the room must hear the last count last. Telling only posts to the room's thread.
        state.withLock { state in
            let before = state.counts.all
            change(&state.counts)
            if state.counts.all != before, let server = state.server { tell(state.counts.all, to: server) }
        }
    }

    private func tell(_ count: Int, to server: SignallingServer) {
        server.updatePointer(.readers(count), room: room, track: track)
    }
}
