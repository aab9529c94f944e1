import Ingest
import MediaTypes
import Signalling
import Synchronization

/// Passes the source's state to the viewers' pages, and keeps it until the signalling server is there.
final class StateAnnouncer: Sendable {
    private let room: String
    private let track: String
    private let state = Mutex<(last: MediaTypes.SourceState, server: SignallingServer?)>((.waiting, nil))

    init(room: String, track: String) {
        self.room = room
        self.track = track
    }

    func connect(_ server: SignallingServer) {
        let last = state.withLock { state in
            state.server = server
            return state.last
        }
        announce(last, by: server)
    }

    func announce(_ newState: MediaTypes.SourceState) {
        let server = state.withLock { state in
            state.last = newState
            return state.server
        }
        if let server { announce(newState, by: server) }
    }

    private func announce(_ state: MediaTypes.SourceState, by server: SignallingServer) {
        let (told, message): (Signalling.SourceState, String) =
            switch state {
            case .waiting: (.waiting, "")
            case .live: (.live, "")
            case .paused(.sharer): (.paused, "The sharer has paused.")
            case .paused(.screenLocked): (.paused, "The screen is locked.")
            case .paused(.windowHidden): (.paused, "What is shared is not on the screen just now.")
            case .gone(_, let reason): (.gone, reason)
            }
        server.announce(told, message: message, room: room, track: track)
    }
}
