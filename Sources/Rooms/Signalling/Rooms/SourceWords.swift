import MediaTypes

/// How clients are told the state of a source.
extension SourceState {
    /// The state in one word.
    var word: String {
        switch self {
        case .waiting: "waiting"
        case .live: "live"
        case .paused: "paused"
        case .gone: "gone"
        }
    }

    /// What there is to say to people beyond that; may be empty.
    var message: String {
        switch self {
        case .waiting, .live: ""
        case .paused(.sharer): "The sharer has paused."
        case .paused(.screenLocked): "The screen is locked."
        case .paused(.windowHidden): "What is shared is not on the screen just now."
        case .gone(_, let reason): reason
        }
    }
}
