public import Signalling
import TrackHub

extension HostedTrack {
    /// Makes `sound` the sound of this track. Returns false if its sound already has a source.
    public func publish(_ sound: CustomAudioTrack) -> Bool {
        sound.attach(to: self.sound, recorder: linkRecorder)
    }

    /// The coded packets of the track's sound, for an application that sends them elsewhere or records them: Opus,
    /// mostly of 20 ms each. None come while it is silent or muted.
    public var soundFrames: TrackFrames { TrackFrames(hub: sound) }
    /// The decoded sound of the track, for an application that looks into it or plays it.
    ///
    /// - Parameter channelCount: 1 or 2, the channels of the samples whatever the packets have.
    public func soundSamples(channelCount: Int = 2) -> TrackAudio {
        TrackAudio(hub: sound, channelCount: channelCount)
    }

    /// Whether the track's sound has a source, be it silent or muted.
    public var hasSound: Bool { sound.hasSource }
    /// Whether the track can be heard, as its viewers are told.
    public var soundState: AudioState { AudioState(sound.sourceState) }
    /// The number of viewers that the track's sound is sent to now.
    public var listeners: Int { sound.viewers }

    /// Begins to read the packets of the track's sound, as ``subscribe(wake:)`` does with the frames of its pictures.
    /// It counts as a listener, not as a viewer.
    public func subscribeToSound(wake: @escaping @Sendable () -> Void) -> TrackSubscription {
        TrackSubscription(sound, wake: wake)
    }
}
