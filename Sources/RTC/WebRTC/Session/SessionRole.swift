import MediaTypes

/// The direction of a session's media: sending to a viewer, or receiving from a publisher.
enum SessionRole {
    case watching(WatchedTracks)
    case publishing(PublishedTracks)

    /// A peer that is silent for this long is gone (RFC 7675 section 5.1). A publisher sends pictures all the time, and
    /// another publisher may be waiting to replace it.
    var timeout: Interval {
        switch self {
        case .watching: .seconds(30)
        case .publishing: .seconds(10)
        }
    }

    /// Sends a viewer the pictures since the last key frame again, with new sequence numbers.
    func restart() {
        if case .watching(let tracks) = self { tracks.restart() }
    }
}
