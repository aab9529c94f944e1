import MediaTypes
import OutputSettings
import ScreenRelayKit

/// Where the pictures of a push come from: the track itself, an encoder for other settings, or nowhere.
enum PushSource: Sendable {
    /// How long the pictures of a source may come later than its sound, before the sound is sent alone.
    static let pictureTimeout = Interval.seconds(3)
    /// How long after the first picture of a source that has just come its sound may come. A stream that has begun
    /// without it must restart.
    static let soundTimeout = Interval.milliseconds(500)

    case track(HostedTrack)
    case encoder(Reencoder)
    /// Sound is sent alone.
    case nothing

    var isTrack: Bool {
        if case .track = self { return true }
        return false
    }

    /// Asks for one more picture of a screen that stands still.
    func requestPicture() {
        switch self {
        case .track(let track): track.requestPicture()
        case .encoder(let encoder): encoder.requestPicture()
        case .nothing: break
        }
    }

    func requestKeyFrame() {
        switch self {
        case .track(let track): track.requestKeyFrame()
        case .encoder(let encoder): encoder.requestKeyFrame()
        case .nothing: break
        }
    }
}

extension HostedTrack {
    /// Whether there is something that sends pictures.
    var hasPictures: Bool {
        switch sourceState {
        case .waiting, .gone: false
        case .live, .paused: true
        }
    }

    /// Whether it has sound, and nothing that sends pictures.
    var isHeardAlone: Bool { hasSound && !hasPictures }
}

extension VideoSettings {
    /// The longest time between two key frames while the picture changes.
    var keyFrameInterval: Interval {
        let pace = max(1, lowestFramesPerSecond ?? framesPerSecond)
        return Interval.seconds(1) * Int64(picturesPerKeyFrame) / Int64(pace)
    }
}
