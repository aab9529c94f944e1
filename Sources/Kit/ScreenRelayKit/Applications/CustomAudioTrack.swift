import AudioCoding
import Clocks
import Ingest
public import MediaTypes
import Synchronization
public import TrackHub

/// The sound of a track, of an application's own packets or samples.
///
/// The initializer decides the kind: a track of packets passes the packets of ``write(_:)`` on unchanged, and a track
/// of samples encodes the samples of ``write(samples:captured:)`` to Opus while there are listeners. May be used on any
/// thread.
public final class CustomAudioTrack: PictureSource {
    /// The track's notification to its application.
    ///
    /// The closure is called on any thread, the writing one included, but one call at a time. It must not block.
    public struct Feedback: Sendable {
        /// Whether there are listeners now. Otherwise sound need not be written.
        public var watchedChanged: @Sendable (Bool) -> Void

        /// Feedback that calls this closure.
        public init(watchedChanged: @escaping @Sendable (Bool) -> Void = { _ in }) {
            self.watchedChanged = watchedChanged
        }
    }

    private let feedback: Feedback
    /// The number of the samples' channels; nil for a track of packets.
    private let channelCount: Int?
    private let encoder: Mutex<AudioEncoder?>
    private let state = Mutex(State())
    private let epoch = UInt64.random(in: 1 ... .max)

    private struct State {
        /// The hub of the sound that this is the source of; nil while the track is in no room.
        var hub: TrackHub?
        var isHeard = false
        /// Whether the sharer has paused or muted.
        var isPaused = false
        /// Nil if the sound is not recorded.
        var recording: PublicationAudioRecording?

        /// The hub, if sound that is written now can be heard.
        var hearing: TrackHub? { isHeard && !isPaused ? hub : nil }
    }

    /// A track of packets that is not in a room yet. ``HostedTrack/publish(_:)-(CustomAudioTrack)`` puts it into
    /// one, beside whatever pictures there are.
    public init(feedback: Feedback = Feedback()) {
        self.feedback = feedback
        channelCount = nil
        encoder = Mutex(nil)
    }

    /// A track of samples, which the host encodes, and that is not in a room yet.
    ///
    /// - Parameters:
    ///   - channelCount: 1 or 2.
    ///   - bitRate: the average rate, clamped to 16...128 kbit/s.
    ///   - feedback: what the application is told.
    /// - Throws: ``HostError/system(_:)`` if libopus refuses the channels, or no memory is left.
    public init(
        channelCount: Int, bitRate: BitRate = BitRate(bitsPerSecond: 96_000), feedback: Feedback = Feedback()
    ) throws(HostError) {
        do throws(AudioCodingError) {
            encoder = try Mutex(AudioEncoder(channelCount: channelCount, bitRate: bitRate))
        } catch {
            throw .system("sound of \(channelCount) channels can't be encoded: \(error)")
        }
        self.feedback = feedback
        self.channelCount = channelCount
    }

    /// Writes the next frame of a track of packets: a packet of Opus, as `CodedFrame.init(opus:captureTime:)` of the
    /// module Opus makes it. Only one thread may write at a time.
    ///
    /// The capture time is the time of the first sample that a decoder plays, on this machine's CLOCK_MONOTONIC; if
    /// there is none, the time of this call is used. A packet whose time is within 8 ms of the end of the preceding
    /// packet is played directly after it, and a packet that begins earlier is left out.
    ///
    /// - Returns: nil if the packet is on its way to the listeners that there are; otherwise why it is left out.
    @discardableResult
    public func write(_ frame: CodedFrame) -> WriteError? {
        guard channelCount == nil else { return .wrongKind }
        guard frame.format?.codec == .opus else { return .wrongCodec }
        guard let hub = state.withLock({ $0.hub }) else { return .notPublished }
        deliver(frame, to: hub, at: MonotonicTime.now())
        return nil
    }

    /// Writes the next samples of a track of samples, any number of them. Only one thread may write at a time.
    ///
    /// While there are listeners, the samples are encoded before the call returns, in packets of 20 ms. Otherwise, or
    /// while the sharer has paused or muted, the samples are dropped. Of digital silence, at most 300 ms are sent.
    ///
    /// - Parameters:
    ///   - samples: the samples.
    ///   - captured: when the first sample was captured, on this machine's CLOCK_MONOTONIC. Up to 20 ms from the end of
    ///     the preceding samples, there is no break between the two; a sound card whose clock drifts by 100 ppm gets a
    ///     break in 200 s. Beyond that, there is a gap, or a part is left out. Nil if the time isn't known: there is no
    ///     break either, unless the samples are written more than 200 ms early or late.
    /// - Returns: nil if the samples are encoded, or may be dropped as described above; otherwise why they are left
    ///   out.
    @discardableResult
    public func write(samples: AudioSamples, captured: MonotonicTime? = nil) -> WriteError? {
        guard let channelCount else { return .wrongKind }
        guard samples.channelCount == channelCount, samples.samples.count.isMultiple(of: channelCount) else {
            return .wrongChannels
        }
        guard let hub = state.withLock({ $0.hearing }) else {
            encoder.withLock { $0?.forget() }
            return nil
        }
        let now = MonotonicTime.now()
        var hasFailed = false
        let frames = encoder.withLock { $0?.encode(samples, captured: captured, now: now, &hasFailed) ?? [] }
        for frame in frames { deliver(frame, to: hub, at: now) }
        return hasFailed ? .encoderFailed : nil
    }

    private func deliver(_ frame: CodedFrame, to hub: TrackHub, at now: MonotonicTime) {
        // Paused or muted sound isn't recorded either.
        let recording = state.withLock { $0.isPaused ? nil : $0.recording }
        recording?.record(frame, at: now)
        hub.deliver(frame, from: self, epoch: epoch, arrival: now)
    }

    /// Whether sound that is written now is heard; otherwise it need not be decoded.
    package var isHeard: Bool { state.withLock { $0.hearing != nil } }

    /// How many listen now: viewers that the sound is sent to, and applications. 0 while the track is in no room.
    public var listeners: Int { state.withLock { $0.hub }?.viewers ?? 0 }

    /// Makes this the source of a track's sound, which `recorder` records if there is one. Returns false if the sound
    /// has a source already, or this track is in a room.
    func attach(to hub: TrackHub, recorder: LinkRecorder?) -> Bool {
        // Before the hub knows this source, because the hub then reports listeners at once. Until then, the hub ignores
        // sound.
        let isFree = state.withLock { state in
            guard state.hub == nil else { return false }
            state = State(hub: hub)
            return true
        }
        guard isFree else { return false }
        guard hub.attach(self, now: MonotonicTime.now()) else {
            state.withLock { $0 = State() }
            return false
        }
        // The application may have ended it meanwhile.
        let isOurs = state.withLock { state in
            guard state.hub === hub else { return false }
            state.recording = recorder.map {
                PublicationAudioRecording($0, codec: .opus, epoch: epoch, at: MonotonicTime.now())
            }
            return true
        }
        if isOurs { return true }
        hub.detach(self, reason: "the sound has ended", now: MonotonicTime.now())
        return false
    }

    /// Removes the track from its room. Viewers are notified that there is no sound.
    public func end(reason: String) {
        let hub = state.withLock { state in
            defer { state = State() }
            return state.hub
        }
        hub?.detach(self, reason: reason, now: MonotonicTime.now())
    }

    /// Decoding can begin with every packet.
    public var makesKeyFrames: Bool { true }
    public func setWatched(_ isRunning: Bool) {
        state.withLock { $0.isHeard = isRunning }
        feedback.watchedChanged(isRunning)
    }
    public func setSharerPaused(_ isPaused: Bool) {
        state.withLock { $0.isPaused = isPaused }
    }
}
