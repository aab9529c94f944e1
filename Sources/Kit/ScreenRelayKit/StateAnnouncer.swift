import Ingest
import MediaTypes
import Signalling
import Synchronization

/// Brings what the source does to the viewers' pages; remembers it until there is somebody to tell.
final class StateAnnouncer: Sendable {
    private let room: String
    private let state = Mutex<(last: Ingest.SourceState, server: SignallingServer?)>((.waiting, nil))

    init(room: String) {
        self.room = room
    }

    func connect(_ server: SignallingServer) {
        let last = state.withLock { state in
            state.server = server
            return state.last
        }
        announce(last, by: server)
    }

    func announce(_ newState: Ingest.SourceState) {
        let server = state.withLock { state in
            state.last = newState
            return state.server
        }
        if let server { announce(newState, by: server) }
    }

    private func announce(_ state: Ingest.SourceState, by server: SignallingServer) {
        switch state {
        case .waiting: server.announce(.waiting, room: room)
        case .live: server.announce(.live, room: room)
        case .paused(.sharer): server.announce(.paused, message: "The sharer has paused.", room: room)
        case .paused(.screenLocked): server.announce(.paused, message: "The screen is locked.", room: room)
        case .paused(.windowHidden):
            server.announce(.paused, message: "The window is not on the screen just now.", room: room)
        case .gone(_, let reason): server.announce(.gone, message: reason, room: room)
        }
    }
}
