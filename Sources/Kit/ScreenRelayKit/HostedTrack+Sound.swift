public import Signalling
import TrackHub

extension HostedTrack {
    /// Whether the track can be heard, as its viewers are told.
    public var soundState: SoundState { SoundState(sound.sourceState) }
    /// The number of viewers that the track's sound is sent to now.
    public var listeners: Int { sound.viewers }
}
