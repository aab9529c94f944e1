public import CaptureLink
import Clocks
public import Ingest
public import LinkTransport
public import MediaTypes
import RecordingFiles
public import Signalling
import Synchronization
import Threading
public import TrackHub
import WebRTC

/// A track in one of a host's rooms. ``ScreenRelayHost`` makes it; its source connects over the link, or is the
/// application's own.
///
/// Methods may be called on any thread.
public final class HostedTrack: Sendable {
    /// The track's name in its room.
    public let name: String
    /// The room that the track is in.
    public let room: String
    /// The origin of the media times of the track's frames and sound.
    public let origin: MonotonicTime

    /// Whether the track was made for a publisher, and ends some time after the last publisher left.
    let endsUnpublished: Bool
    let ingest: TrackIngest
    /// The hub of the track's sound, which is there whether or not it has a source.
    let sound: TrackHub
    /// Decides whether the sound is held.
    let soundHold: AudioPause
    private let soundNews: AudioNews
    let readers: PointerlessReaders
    /// The interface by which the room's signalling reaches the track's pictures.
    let media: TrackMedia
    private let log: EventLog
    private let recorder: Mutex<LinkRecorder?>
    private let currentTag = Mutex(TrackTag())
    private let currentPublication = Mutex<TrackPublication?>(nil)
    private let claims = Mutex(Claims())
    private let announceTag: @Sendable (TrackTag) -> Void

    private struct Claims {
        /// How many there have been.
        var count = 0
        /// Whether the last one holds.
        var isHeld = false
    }

    /// A track without sources, whose viewers `media` serves. `signalling`, which must be given the track before the
    /// track gets a source, notifies viewers of the source, its pointer and its sound. `recorder` records the track
    /// once ``beginRecording()`` has been called.
    init(
        _ name: String, room: String, endsUnpublished: Bool = false, recorder: LinkRecorder? = nil, media: MediaServer,
        signalling: SignallingServer, log: EventLog,
        onSourceChange: @escaping @Sendable (SourceState) -> Void = { _ in },
        onSoundChange: @escaping @Sendable (SourceState) -> Void = { _ in }
    ) throws(HostError) {
        self.name = name
        self.room = room
        announceTag = { signalling.announce($0, room: room, track: name) }
        self.endsUnpublished = endsUnpublished
        self.recorder = Mutex(recorder)
        self.log = log
        // The times of pictures and sound have a common origin, so that viewers can keep them together.
        let origin = MonotonicTime.now()
        self.origin = origin
        let sound = TrackHub(origin: origin)
        let soundHold = AudioPause(sound)
        self.sound = sound
        self.soundHold = soundHold
        do throws(IngestError) {
            ingest = try TrackIngest(
                hub: TrackHub(origin: origin), log: log,
                onStateChange: { state in
                    soundHold.picturesChanged(to: state)
                    signalling.announce(state, room: room, track: name)
                    onSourceChange(state)
                }, onPointer: { signalling.updatePointer($0, room: room, track: name) })
        } catch {
            throw .system("\(error)")
        }
        soundNews = AudioNews { state in
            signalling.announceSound(AudioState(state), room: room, track: name)
            onSoundChange(state)
        }
        sound.connect(soundNews)
        readers = PointerlessReaders(room: room, track: name, signalling: signalling)
        self.media = TrackMedia(source: WatchedSource(video: ingest.hub, audio: sound), ingest: ingest, server: media)
    }

    /// Starts to accept captures over the link. Stopping the returned server ends the link and the track's recording.
    /// ``ScreenRelayHost/stop()`` waits until the recording has reached its file.
    ///
    /// - Parameters:
    ///   - address: where captures connect, or nil if connected sockets are passed to `adopt`.
    ///   - admission: which captures are accepted over TCP. Without a token, only captures on this machine are.
    ///   - recording: the path of a new file for the link's messages, instead of the file of
    ///     ``HostConfiguration/recording``. The recording counts as a viewer that can't draw the pointer. If the file
    ///     can't grow any more, that is logged and sharing continues. A recording without any message is removed at the
    ///     end.
    ///   - recordingLimit: the largest size of that file in bytes, or nil for no limit. At the limit the recording is
    ///     closed properly, as when the file can't grow.
    /// - Throws: `link` if no capture can connect to `address`, or `recording` if the recording's file can't be
    ///   created.
    public func openLink(
        at address: LinkAddress?, admission: LinkAdmission = LinkAdmission(), recording: String? = nil,
        recordingLimit: UInt64? = nil
    ) throws(HostError) -> LinkServer {
        let own = try recording.map { path throws(HostError) in try openRecording(path, recordingLimit) }
        if let own {
            // Released outside of the lock, because that may wait for a disk.
            let former = recorder.withLock { value in
                defer { value = own }
                return value
            }
            former?.finish()
            beginRecording()
        }
        do throws(SocketError) {
            return try LinkServer(
                at: address, admission: admission, ingest: ingest, sound: sound,
                name: "screenrelay \(screenRelayVersion)", recorder: linkRecorder, log: log)
        } catch {
            if let own {
                own.close()
                recorder.withLock { $0 = nil }
            }
            throw .link(error)
        }
    }

    /// Lets the track's recorder, if there is one, count as a viewer. It must be called once signalling has the track.
    func beginRecording() {
        guard let recorder = linkRecorder else { return }
        readers.recordings(1)
        recorder.attach(to: ingest, sound: sound) { [readers] in readers.recordings(0) }
    }

    private func openRecording(_ path: String, _ limit: UInt64?) throws(HostError) -> LinkRecorder {
        do throws(RecordingFileError) {
            return try LinkRecorder(path: path, sizeLimit: limit, log: log)
        } catch {
            throw .recording(error)
        }
    }

    /// The track's recorder, or nil if it is not recorded.
    var linkRecorder: LinkRecorder? { recorder.withLock { $0 } }

    /// The state of the track's recording, also after it has ended. Nil if there is none.
    public var recording: RecordingStatus? { linkRecorder?.status }

    /// Makes `track` the source of this track, and records it if this track is recorded. Returns false if this track
    /// already has a source.
    public func publish(_ track: CustomVideoTrack) -> Bool {
        track.attach(to: ingest, recorder: linkRecorder)
    }

    /// The track's coded frames, for an application that sends them elsewhere or records them.
    public var frames: TrackFrames { TrackFrames(hub: ingest.hub) }
    /// Begins to read the frames on a thread of the application's own. `wake` is called on the source's thread when
    /// there are new frames; it must not block, nor take frames.
    public func subscribe(wake: @escaping @Sendable () -> Void) -> TrackSubscription {
        TrackSubscription(ingest.hub, readers, wake: wake)
    }
    /// The track's decoded pictures, for an application that looks at them.
    public var pictures: TrackPictures { TrackPictures(hub: ingest.hub) }

    /// Whether the track has a source that makes a key frame when it is asked for one.
    public var makesKeyFrames: Bool { ingest.hub.source?.makesKeyFrames ?? false }

    /// Asks the source for a key frame, for an application that can't go on without one; at most once in 500 ms,
    /// however many ask.
    public func requestKeyFrame() { ingest.hub.requestKeyFrame(now: MonotonicTime.now()) }

    /// Asks for a key frame for an application that begins to read, unless there is one that it can begin with.
    public func requestStart() { ingest.hub.requestStart(now: MonotonicTime.now()) }

    /// Asks the source for one more picture, even of a screen that stands still.
    public func requestPicture() { ingest.hub.requestPicture() }

    /// Whether the track's pictures have a source, be they paused.
    package var hasSource: Bool { ingest.hub.hasSource }
    /// What the track's publisher sends; nil if the source is of another kind.
    package var publication: TrackPublication? { currentPublication.withLock { $0 } }
    /// Sets what the track's publisher sends, or nil when it leaves.
    package func describe(_ publication: TrackPublication?) { currentPublication.withLock { $0 = publication } }

    /// Claims the track for a publisher over another protocol than WHIP, which has no frame yet. Returns false if
    /// another one has claimed it, over whichever protocol.
    func claim() -> Bool {
        claims.withLock { claims in
            if claims.isHeld { return false }
            claims.count += 1
            claims.isHeld = true
            return true
        }
    }

    /// Gives the claim back. Returns its number.
    func giveBackClaim() -> Int {
        claims.withLock { claims in
            claims.isHeld = false
            return claims.count
        }
    }

    /// Whether a publisher over another protocol than WHIP has claimed the track.
    var isClaimed: Bool { claims.withLock { $0.isHeld } }
    /// The number of the last claim.
    var lastClaim: Int { claims.withLock { $0.count } }

    /// The source's current state, as announced to viewers.
    public var sourceState: SourceState { ingest.hub.sourceState }
    /// The round-trip time and clock offset of a source that is connected over TCP, if they are known.
    public var sourceTiming: SourceTiming? { ingest.hub.source?.timing }
    /// The last statistics from the track's capture, about one per second while something changes. Nil if there are
    /// none.
    public var captureStatistics: CaptureStatistics? { ingest.hub.statistics(now: MonotonicTime.now()) }
    /// The number of viewers that watch the track now.
    public var viewers: Int { ingest.hub.viewers }

    /// Sets the number of the application's own readers that can't draw the pointer, such as its recordings. Viewers,
    /// players and the track's recording count by themselves. While there is at least one such reader, the pointer is
    /// drawn into the pictures.
    public func setPlainReaders(_ count: Int) { readers.others(count) }

    /// The track's description, in addition to its name.
    public var tag: TrackTag { currentTag.withLock { $0 } }

    /// Replaces the track's description: viewers are notified, and `GET /api/rooms` contains it.
    public func setTag(_ tag: TrackTag) {
        // Under the lock, so that viewers end up with the last one.
        currentTag.withLock { current in
            current = tag
            announceTag(tag)
        }
    }
}
