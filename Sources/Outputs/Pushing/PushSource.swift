import ScreenRelayKit

/// Where the pictures of a push come from: the track itself, an encoder for other settings, or nowhere.
enum PushSource: Sendable {
    case track(HostedTrack)
    case encoder(Reencoder)
    /// Sound is sent alone.
    case nothing

    var isTrack: Bool {
        if case .track = self { return true }
        return false
    }

    /// Asks for one more picture of a screen that stands still; an encoder repeats its last one anyhow.
    func requestPicture() {
        if case .track(let track) = self { track.requestPicture() }
    }

    func requestKeyFrame() {
        switch self {
        case .track(let track): track.requestKeyFrame()
        case .encoder(let encoder): encoder.requestKeyFrame()
        case .nothing: break
        }
    }
}
