public import Ingest
public import LinkTransport
import MediaTypes
import RecordingFiles
import Signalling
import Synchronization
import Threading
import TrackHub
import WebRTC

/// A track of one of a host's rooms: made by ``ScreenRelayHost``, fed by the link or by an application of its own.
///
/// Methods may be called on any thread.
public final class HostedTrack: Sendable {
    /// What it is called in its room.
    public let name: String
    /// The room that viewers find it in.
    public let room: String

    /// Whether it was made for a publisher, and ends a while after the last one.
    let endsUnpublished: Bool
    let ingest: TrackIngest
    let readers: PlainReaders
    /// What its room's signalling asks for pictures.
    let bridge: RoomMediaBridge
    private let states: StateAnnouncer
    private let pointer: PointerAnnouncer
    private let log: EventLog
    private let recorder = Mutex<LinkRecorder?>(nil)

    /// A track without a source, whose viewers `media` serves.
    init(
        _ name: String, room: String, endsUnpublished: Bool = false, media: MediaServer, log: EventLog,
        onSourceChange: @escaping @Sendable (Ingest.SourceState) -> Void = { _ in }
    ) throws(HostError) {
        self.name = name
        self.room = room
        self.endsUnpublished = endsUnpublished
        self.log = log
        let states = StateAnnouncer(room: room, track: name)
        let pointer = PointerAnnouncer(room: room, track: name)
        do throws(IngestError) {
            ingest = try TrackIngest(
                hub: TrackHub(origin: monotonicNow()), log: log,
                onStateChange: { state in
                    states.announce(state)
                    onSourceChange(state)
                }, onPointer: { pointer.announce($0) })
        } catch {
            throw .system("\(error)")
        }
        self.states = states
        self.pointer = pointer
        readers = PlainReaders(room: room, track: name)
        bridge = RoomMediaBridge(ingest: ingest, media: media)
    }

    /// Tells `signalling`, which has the track from here on, what is known of it, and what becomes of it.
    func connect(_ signalling: SignallingServer) {
        readers.connect(signalling)
        states.connect(signalling)
        pointer.connect(signalling)
    }

    /// Takes captures in over the link; the returned server ends it, and records nothing more then. ``ScreenRelayHost/stop()``
    /// waits for what is recorded to reach its file.
    ///
    /// - Parameters:
    ///   - address: where captures connect; nil where connected sockets are handed over by `adopt`.
    ///   - admission: who is taken that comes over TCP; without a token only captures of this machine.
    ///   - recording: a file, which must not exist, for the link's messages as they pass. Who records counts as a viewer that
    ///     can't draw the pointer. Where the file can't grow any more that is logged, and sharing goes on. One that has got no
    ///     message is removed in the end.
    ///   - recordingLimit: how many bytes that file may have at most; nil for any number. At the limit the recording ends in good
    ///     order, as where the file can't grow.
    public func openLink(
        at address: LinkAddress?, admission: LinkAdmission = LinkAdmission(), recording: String? = nil,
        recordingLimit: UInt64? = nil
    ) throws(HostError) -> LinkServer {
        let recorder = try recording.map { path throws(HostError) in try openRecording(path, recordingLimit) }
        readers.recordings(recorder == nil ? 0 : 1)
        do throws(LinkTransportError) {
            let link = try LinkServer(
                at: address, admission: admission, ingest: ingest, name: "screenrelay \(screenRelayVersion)",
                recorder: recorder, onRecordingEnd: { [readers] in readers.recordings(0) }, log: log)
            self.recorder.withLock { $0 = recorder }
            return link
        } catch {
            readers.recordings(0)
            recorder?.close()
            throw .link(error)
        }
    }

    private func openRecording(_ path: String, _ limit: UInt64?) throws(HostError) -> LinkRecorder {
        do throws(RecordingFileError) {
            return try LinkRecorder(path: path, sizeLimit: limit, log: log)
        } catch {
            throw .recording(error)
        }
    }

    /// Where what comes to the track is recorded; nil where it isn't.
    var linkRecorder: LinkRecorder? { recorder.withLock { $0 } }

    /// What the recording of the link does, or has done once this has stopped; nil where there is none.
    public var recording: RecordingStatus? { recorder.withLock { $0?.status } }

    /// Makes `track` what is seen here; false where the track has a source already.
    public func publish(_ track: CustomVideoTrack) -> Bool {
        track.attach(to: ingest)
    }

    /// What the source does now, as viewers are told.
    public var sourceState: Ingest.SourceState { ingest.state }
    /// How many watch it now.
    public var viewers: Int { ingest.hub.viewers }

    /// Waits 5 s at most for what is recorded to reach its file.
    func stop() {
        recorder.withLock { $0 }?.close()
    }
}
