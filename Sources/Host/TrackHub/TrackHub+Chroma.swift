public import MediaTypes
import Synchronization

/// Which chroma formats the viewers decode, and what the source is told of that.
extension TrackHub {
    /// Adds a viewer that decodes all formats up to `format`, and tells the source.
    public func viewerCame(decoding format: ChromaFormat) {
        state.withLock { $0.chromaPolicy.viewerCame(decoding: format) }
        changeViewers(by: 1)
    }

    /// Removes a viewer that was added with ``viewerCame(decoding:)``.
    public func viewerLeft(decoding format: ChromaFormat, now: MonotonicTime) {
        state.withLock { $0.chromaPolicy.viewerLeft(decoding: format, now: now) }
        changeViewers(by: -1)
    }

    /// The format that all viewers can decode.
    public var wantedChroma: ChromaFormat { state.withLock { $0.chromaPolicy.wanted } }

    /// When ``pollChroma(now:)`` has something to do; nil if nothing is due.
    public var chromaDeadline: MonotonicTime? { state.withLock { $0.chromaPolicy.deadline } }

    /// Tells the source if 4:4:4 is possible again.
    public func pollChroma(now: MonotonicTime) {
        let source = state.withLock { $0.chromaPolicy.poll(now: now) ? $0.source : nil }
        source?.wantedChromaChanged()
    }

    /// Returns whether a viewer that decodes all formats up to `format` can't watch, because the track has another
    /// format and its source has no other.
    public func excludes(viewerDecoding format: ChromaFormat) -> Bool {
        if format == .yuv444 { return false }
        let (track, source) = state.withLock { ($0.chroma, $0.source) }
        return ChromaPolicy.excludes(viewerDecoding: format, track: track, source: source?.chromaAbility ?? .absent)
    }

    /// Whether the track has a source for its next picture.
    public var hasSource: Bool {
        let source = state.withLock { $0.source }
        return source.map { $0.chromaAbility != .absent } ?? false
    }

    /// Forgets the track's format, since another source has taken over and its format isn't known yet.
    public func forgetChroma() {
        state.withLock { $0.chroma = nil }
    }
}
