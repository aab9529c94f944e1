/// A protocol besides WHIP over which programs publish tracks.
public enum PublishingProtocol: String, Sendable, CaseIterable {
    case rtmp = "RTMP"
    case rtsp = "RTSP"
    case srt = "SRT"
}

/// How many publishers over one protocol there are.
public struct PublisherCount: Sendable, Equatable {
    /// Those whose pictures pass unchanged.
    public var unchanged = 0
    /// Those whose pictures the host encodes again.
    public var reencoded = 0

    /// No publisher.
    public init() {}

    mutating func add(_ publication: TrackPublication) {
        if publication.isReencoded { reencoded += 1 } else { unchanged += 1 }
    }
}
