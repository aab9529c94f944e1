import CaptureLink
import Ingest
import MediaTypes
import Signalling
import Synchronization
import TrackHub

/// Passes pointer updates to the room, and keeps early ones until the signalling server is there.
final class PointerAnnouncer: Sendable {
    private let room: String
    private let track: String
    private let state = Mutex<(early: [PointerUpdate], server: SignallingServer?)>(([], nil))

    init(room: String, track: String) {
        self.room = room
        self.track = track
    }

    func connect(_ server: SignallingServer) {
        // Under the lock, so that no later update overtakes the early ones.
        state.withLock { state in
            state.server = server
            for update in state.early { server.updatePointer(update, room: room, track: track) }
            state.early = []
        }
    }

    func announce(_ report: PointerReport) {
        guard let update = Self.update(for: report) else { return }
        state.withLock { state in
            if let server = state.server {
                server.updatePointer(update, room: room, track: track)
            } else if state.early.count < 64 {
                // A source comes only after the host has started, so there is next to nothing to keep.
                state.early.append(update)
            }
        }
    }

    private static func update(for report: PointerReport) -> PointerUpdate? {
        switch report {
        case .ability(let tellsPointer): .ability(tellsPointer)
        case .shape(let image):
            PointerShape(
                width: image.size.width, height: image.size.height, hotX: image.hotX, hotY: image.hotY,
                pixels: image.pixels
            ).map { .shape($0) }
        case .position(let position, let size):
            .place(
                PointerPlace(
                    x: position.x, y: position.y, isVisible: position.isVisible, width: size?.width ?? 0,
                    height: size?.height ?? 0))
        case .lost: .place(PointerPlace(x: 0, y: 0, isVisible: false))
        case .pictures(let areDrawn): .pictures(areDrawn: areDrawn)
        }
    }
}
