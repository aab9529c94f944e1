import Ingest
import LockOrder
import Rooms
import Synchronization
import TrackHub

/// The tracks of a host's rooms, and the settings for all of them, including tracks that are added later.
///
/// Any thread may call any method.
final class HostTracks: Sendable {
    /// The first track, which is never removed.
    let first: HostedTrack
    private let state: RankedMutex<State>
    private let followers = Mutex(Followers())

    private struct State {
        /// The tracks in the order they were added, the first one first.
        var tracks: [HostedTrack]
        var isPaused = false
        var isMuted = false
        var isMicrophoneMuted = false
        /// Counts the calls of `setPaused` and `mute`. With concurrent calls, every track follows the later call.
        var order: UInt64 = 0
        var limits = SourceLimits()
        /// What the tracks that were removed had done.
        var former = TrackTotals()
    }

    private struct Followers {
        var next = 0
        var all: [Int: @Sendable () -> Void] = [:]
    }

    init(first: HostedTrack) {
        self.first = first
        state = RankedMutex(State(tracks: [first]), .hostTracks)
    }

    /// The tracks in the order they were added.
    var all: [HostedTrack] { state.withLock { $0.tracks } }

    /// What all tracks have done, including removed tracks until their removal. These numbers never fall.
    var totals: TrackTotals {
        // Under the lock, so that no track is counted twice or not at all.
        state.withLock { state in
            var totals = state.former
            for track in state.tracks { totals.add(track.ingest.hub.totals) }
            return totals
        }
    }

    /// The track with this name, or nil if there is none.
    subscript(_ name: String, in room: String) -> HostedTrack? {
        all.first { $0.name == name && $0.room == room }
    }

    /// Hides all tracks from viewers and mutes them, or shows them again. Tracks that ``mute(_:)`` has muted stay
    /// muted.
    func setPaused(_ isPaused: Bool) {
        let (tracks, isMuted, order) = state.withLock { state in
            state.isPaused = isPaused
            state.order += 1
            return (state.tracks, state.isMuted, state.order)
        }
        for track in tracks {
            if isPaused { track.soundHold.change(isPaused: true, isMuted: isMuted, order: order) }
            track.ingest.hub.setPaused(isPaused, order: order)
            // After the pictures, whose capture may have paused by itself meanwhile.
            if !isPaused { track.soundHold.change(isPaused: false, isMuted: isMuted, order: order) }
        }
    }

    /// Mutes all tracks, or unmutes them unless they are paused.
    func mute(_ isMuted: Bool) {
        let (tracks, isPaused, order) = state.withLock { state in
            state.isMuted = isMuted
            state.order += 1
            return (state.tracks, state.isPaused, state.order)
        }
        for track in tracks { track.soundHold.change(isPaused: isPaused, isMuted: isMuted, order: order) }
    }

    /// Leaves the microphone out of the sound of all tracks, or includes it again.
    func muteMicrophone(_ isMuted: Bool) {
        // Under the lock, so that each track has the last order.
        state.withLock { state in
            state.isMicrophoneMuted = isMuted
            for track in state.tracks { track.soundHold.hub.muteMicrophone(isMuted) }
        }
    }

    /// Whether `muteMicrophone` has muted it.
    var isMicrophoneMuted: Bool { state.withLock { $0.isMicrophoneMuted } }

    /// Whether `mute` has muted the tracks.
    var isMuted: Bool { state.withLock { $0.isMuted } }

    /// Sets each source's highest frame rate and bit rate.
    func limit(_ limits: SourceLimits) {
        let tracks = state.withLock { state in
            state.limits = limits
            return state.tracks
        }
        for track in tracks {
            // If another call sets other limits at the same time, its limits may reach this track before ours. So
            // repeat this until the track has the limits that are set now.
            var given: SourceLimits
            repeat {
                given = self.limits
                track.ingest.limit(given)
            } while given != self.limits
        }
    }

    /// The limits that `limit` has set.
    var limits: SourceLimits { state.withLock { $0.limits } }

    /// Adds a track, paused, muted and limited like the others. Returns nil, or the reason if it can't be added.
    ///
    /// Calls `announce` under the lock if it was added, so that clients hear of added and removed tracks in the same
    /// order.
    func add(_ track: HostedTrack, announce: () -> Void) -> String? {
        let refusal = state.withLock { state -> String? in
            let others = state.tracks.filter { $0.room == track.room }
            if others.contains(where: { $0.name == track.name }) { return "the room already has a track of that name" }
            if others.count >= RoomDirectory.trackLimit {
                return "the room already has \(RoomDirectory.trackLimit) tracks, the most that it can have"
            }
            state.tracks.append(track)
            if state.isPaused { track.ingest.hub.setPaused(true, order: state.order) }
            track.soundHold.change(isPaused: state.isPaused, isMuted: state.isMuted, order: state.order)
            track.soundHold.hub.muteMicrophone(state.isMicrophoneMuted)
            track.ingest.limit(state.limits)
            announce()
            return nil
        }
        if refusal == nil { tellFollowers() }
        return refusal
    }

    /// Removes a track, but never the first one. Returns nil if there is no such track. `announce` is called as in
    /// `add`.
    func remove(_ name: String, from room: String, announce: () -> Void) -> HostedTrack? {
        let removed = state.withLock { state -> HostedTrack? in
            let index = state.tracks.firstIndex { $0.name == name && $0.room == room && $0 !== first }
            guard let index else { return nil }
            announce()
            let removed = state.tracks.remove(at: index)
            state.former.add(removed.ingest.hub.totals)
            return removed
        }
        if removed != nil { tellFollowers() }
        return removed
    }

    /// Calls `onChange` after each track that is added or removed, on the thread that does it, until the returned
    /// closure is called. It must not block.
    func follow(_ onChange: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let key = followers.withLock { followers in
            followers.next += 1
            followers.all[followers.next] = onChange
            return followers.next
        }
        return { [weak self] in self?.followers.withLock { $0.all[key] = nil } }
    }

    private func tellFollowers() {
        for tell in followers.withLock({ Array($0.all.values) }) { tell() }
    }
}
