import MediaSessions
import SDP

extension MediaSessionError {
    static let stopped = full("the server is ending")

    /// The refusal that corresponds to `error`: the offer is malformed, or it is unusable.
    init(_ error: any Error) {
        switch error as? SDPError {
        case .tooLong, .notSDP, .malformed, .tooManyMediaSections, .duplicateMid: self = .badOffer("\(error)")
        default: self = .unsupported("\(error)")
        }
    }
}
