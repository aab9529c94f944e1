import Ingest
import Rooms
import Synchronization

/// The tracks of a host's rooms, and what holds for all of them, also for those that come later.
///
/// Any thread may call any method.
final class HostTracks: Sendable {
    /// The track that is there from the beginning, to the end.
    let first: HostedTrack
    private let state: Mutex<State>

    private struct State {
        /// In the order they came, the first one first.
        var tracks: [HostedTrack]
        var isHeld = false
        /// Counts the orders to hold or to let go: of two that come at once each track obeys the later one.
        var order: UInt64 = 0
        var limits = SourceLimits()
    }

    init(first: HostedTrack) {
        self.first = first
        state = Mutex(State(tracks: [first]))
    }

    /// In the order they came.
    var all: [HostedTrack] { state.withLock { $0.tracks } }

    /// The track of that name; nil where there is none.
    subscript(_ name: String, in room: String) -> HostedTrack? {
        all.first { $0.name == name && $0.room == room }
    }

    /// Shows viewers nothing of any track, or all again.
    func hold(_ isHeld: Bool) {
        let (tracks, order) = state.withLock { state in
            state.isHeld = isHeld
            state.order += 1
            return (state.tracks, state.order)
        }
        for track in tracks { track.ingest.hold(isHeld, order: order) }
    }

    /// Sets what each source may make and send at most.
    func limit(_ limits: SourceLimits) {
        let tracks = state.withLock { state in
            state.limits = limits
            return state.tracks
        }
        for track in tracks { track.ingest.limit(limits) }
    }

    /// What `limit` has set.
    var limits: SourceLimits { state.withLock { $0.limits } }

    /// Adds a track, paused and limited as the others are; gives why it can't be, nil where it is.
    ///
    /// `announce` is called where it is, under the lock: who is told hears of tracks that come and go in the same order.
    func add(_ track: HostedTrack, announce: () -> Void) -> String? {
        state.withLock { state in
            let others = state.tracks.filter { $0.room == track.room }
            if others.contains(where: { $0.name == track.name }) { return "the room has a track of that name already" }
            if others.count >= RoomDirectory.trackLimit {
                return "the room has \(RoomDirectory.trackLimit) tracks, and takes no more"
            }
            state.tracks.append(track)
            if state.isHeld { track.ingest.hold(true, order: state.order) }
            track.ingest.limit(state.limits)
            announce()
            return nil
        }
    }

    /// Takes a track out, but not the first one; nil where there is none. `announce` as for `add`.
    func remove(_ name: String, from room: String, announce: () -> Void) -> HostedTrack? {
        state.withLock { state in
            let index = state.tracks.firstIndex { $0.name == name && $0.room == room && $0 !== first }
            guard let index else { return nil }
            announce()
            return state.tracks.remove(at: index)
        }
    }
}
