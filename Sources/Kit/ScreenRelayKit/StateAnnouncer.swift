import MediaTypes
import Signalling
import Synchronization

/// Passes the source's state to the viewers' pages, and keeps it until the signalling server is there.
final class StateAnnouncer: Sendable {
    private let room: String
    private let track: String
    private let state = Mutex<(last: SourceState, server: SignallingServer?)>((.waiting, nil))

    init(room: String, track: String) {
        self.room = room
        self.track = track
    }

    func connect(_ server: SignallingServer) {
        let last = state.withLock { state in
            state.server = server
            return state.last
        }
        server.announce(last, room: room, track: track)
    }

    func announce(_ newState: SourceState) {
        let server = state.withLock { state in
            state.last = newState
            return state.server
        }
        server?.announce(newState, room: room, track: track)
    }
}
