import MediaTypes
import Signalling
import TrackHub

/// Tells of the state of a track's sound.
final class AudioNews: TrackObserver {
    private let onChange: @Sendable (SourceState) -> Void

    /// - Parameter onChange: called with each new state, on any thread, but on one at a time; must not block.
    init(_ onChange: @escaping @Sendable (SourceState) -> Void) {
        self.onChange = onChange
    }

    func perform(_ action: TrackAction) {
        if case .announce(let state) = action { onChange(state) }
    }
}

extension AudioState {
    /// What viewers are told of sound whose source is in `state`.
    init(_ state: SourceState) {
        self =
            switch state {
            case .waiting, .gone: .none
            case .live: .live
            case .paused: .muted
            }
    }
}
