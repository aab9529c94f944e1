/// A track of a host: one that it has now, or whichever has a certain name, which may begin, end and return.
///
/// Any thread may use it. It doesn't keep the host running.
public struct FollowedTrack: Sendable {
    private enum Place: Sendable {
        case one(HostedTrack)
        case named(String, room: String, HostTracks)
    }

    private let place: Place

    /// Always this track, even after its host has removed it.
    public init(_ track: HostedTrack) { place = .one(track) }

    fileprivate init(_ name: String, in room: String, of tracks: HostTracks) {
        place = .named(name, room: room, tracks)
    }

    /// The track now; nil while the room has none of this name.
    public var current: HostedTrack? {
        switch place {
        case .one(let track): track
        case .named(let name, let room, let tracks): tracks[name, in: room]
        }
    }

    /// Calls `onChange` when ``current`` may have changed, until the returned closure is called. `onChange` is called
    /// on the thread that adds or removes a track; it must not block.
    public func subscribe(_ onChange: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        switch place {
        case .one: {}
        case .named(_, _, let tracks): tracks.follow(onChange)
        }
    }
}

extension ScreenRelayHost {
    /// The track with this name in this room, whether or not there is one yet.
    public func followedTrack(_ name: String, in room: String) -> FollowedTrack {
        FollowedTrack(name, in: room, of: hosted)
    }
}
