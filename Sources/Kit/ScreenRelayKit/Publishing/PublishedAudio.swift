import CodecTable
import Ingest
import MediaTypes
import Synchronization
import TrackHub
import WebRTC

/// A publisher's sound as the source of a track's sound. Viewers receive its packets unchanged, byte for byte.
///
/// They are delivered on the media thread, because the hub of a sound never blocks its source.
final class PublishedAudio: PictureSource {
    private let epoch = UInt64.random(in: 1 ... .max)
    private let state = Mutex(State())

    fileprivate struct State {
        /// The hub of the track's sound; nil before the track is known, and after the end.
        var hub: TrackHub?
        var isAttached = false
        var builder: (any FrameBuilder)?
        /// The track's recorder; nil if it is not recorded.
        var recorder: LinkRecorder?
        /// Nil before this is the source of the track's sound, and if the sound is not recorded.
        var recording: PublicationAudioRecording?
    }

    /// With its first packet, the sound may become the source of `hub`; `recorder` records it from then on.
    func connect(to hub: TrackHub, recorder: LinkRecorder?) {
        state.withLock { state in
            state.hub = hub
            state.recorder = recorder
        }
    }

    /// Detaches the source. Idempotent.
    func end(reason: String, now: MonotonicTime) {
        let hub = state.withLock { state in
            defer { state.hub = nil }
            return state.hub
        }
        hub?.detach(self, reason: reason, now: now)
    }

    /// Passes the publisher's next frame on, on the media thread. It is dropped while the track has another sound.
    func receive(_ frame: PublishedFrame) {
        let (hub, isAttached, frames) = state.withLock { $0.take(frame) }
        guard let hub else { return }
        if !isAttached {
            guard hub.attach(self, now: frame.arrival) else { return }
            let isEnded = state.withLock { state in
                state.isAttached = true
                state.recording = state.recorder.map {
                    PublicationAudioRecording($0, codec: frame.codec, epoch: epoch, at: frame.arrival)
                }
                return state.hub == nil
            }
            // The publisher has left meanwhile.
            if isEnded { return hub.detach(self, reason: "the publisher has left", now: frame.arrival) }
        }
        // Paused or muted sound isn't recorded either.
        let recording = hub.isPausedBySharer ? nil : state.withLock { $0.recording }
        for next in frames {
            recording?.record(next, at: frame.arrival)
            hub.deliver(next, from: self, epoch: epoch, arrival: frame.arrival)
        }
    }

    // MARK: Requests of the track

    /// Decoding can begin with every packet.
    var makesKeyFrames: Bool { true }
    var restsUnwatched: Bool { false }
}

extension PublishedAudio.State {
    /// Builds the frames for the hub, if there is one.
    fileprivate mutating func take(_ frame: PublishedFrame) -> (hub: TrackHub?, isAttached: Bool, frames: [CodedFrame])
    {
        guard let hub else { return (nil, false, []) }
        var builder = self.builder ?? frame.codec.coding.makeBuilder()
        var frames: [CodedFrame] = []
        for unit in frame.units { builder.add(unit, captureTime: frame.captureTime) }
        builder.endFrame()
        while let next = builder.next() { frames.append(next) }
        self.builder = builder
        return (hub, isAttached, frames)
    }
}
