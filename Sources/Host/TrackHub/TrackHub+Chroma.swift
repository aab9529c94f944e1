public import MediaTypes
import Synchronization

/// Who watches in which chroma format, and what the source has to know of that.
extension TrackHub {
    /// One more watches, who decodes all formats up to `format`; the source is told of both.
    public func viewerCame(decoding format: ChromaFormat) {
        state.withLock { $0.chromaPolicy.viewerCame(decoding: format) }
        changeViewers(by: 1)
    }

    /// Who came by ``viewerCame(decoding:)`` has left.
    public func viewerLeft(decoding format: ChromaFormat, now: MonotonicTime) {
        state.withLock { $0.chromaPolicy.viewerLeft(decoding: format, now: now) }
        changeViewers(by: -1)
    }

    /// The format that all who watch can decode.
    public var wantedChroma: ChromaFormat { state.withLock { $0.chromaPolicy.wanted } }

    /// When ``pollChroma(now:)`` has something to do; nil where nothing is due by itself.
    public var chromaDeadline: MonotonicTime? { state.withLock { $0.chromaPolicy.deadline } }

    /// Tells the source where 4:4:4 is possible again.
    public func pollChroma(now: MonotonicTime) {
        let source = state.withLock { $0.chromaPolicy.poll(now: now) ? $0.source : nil }
        source?.wantedChromaChanged()
    }

    /// Whether who decodes all formats up to `format` can't watch: the track is in another, and its source knows no other.
    public func excludes(viewerDecoding format: ChromaFormat) -> Bool {
        if format == .yuv444 { return false }
        let (track, source) = state.withLock { ($0.chroma, $0.source) }
        return ChromaPolicy.excludes(viewerDecoding: format, track: track, source: source?.chromaAbility ?? .absent)
    }

    /// Whether the track's next picture will come from a source.
    public var hasSource: Bool {
        let source = state.withLock { $0.source }
        return source.map { $0.chromaAbility != .absent } ?? false
    }

    /// Another source has taken the track over: what format it sends is not known yet.
    public func forgetChroma() {
        state.withLock { $0.chroma = nil }
    }
}
