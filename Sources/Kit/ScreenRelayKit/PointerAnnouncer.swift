import MediaTypes
import Signalling
import Synchronization
import TrackHub

/// Passes pointer updates to the room, and keeps early ones until the signalling server is there.
final class PointerAnnouncer: Sendable {
    private let room: String
    private let track: String
    private let state = Mutex<(early: [PointerReport], server: SignallingServer?)>(([], nil))

    init(room: String, track: String) {
        self.room = room
        self.track = track
    }

    func connect(_ server: SignallingServer) {
        // Under the lock, so that no later update overtakes the early ones.
        state.withLock { state in
            state.server = server
            for report in state.early { server.updatePointer(report, room: room, track: track) }
            state.early = []
        }
    }

    func announce(_ report: PointerReport) {
        state.withLock { state in
            if let server = state.server {
                server.updatePointer(report, room: room, track: track)
            } else if state.early.count < 64 {
                // A source comes only after the host has started, so there is next to nothing to keep.
                state.early.append(report)
            }
        }
    }
}
