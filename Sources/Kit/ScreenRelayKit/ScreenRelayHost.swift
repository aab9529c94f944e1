public import CaptureLink
public import Ingest
public import LinkTransport
import MediaTypes
import RecordingFiles
import STUN
public import Signalling
import Synchronization
public import Threading
import TrackHub
public import WebRTC

/// A host: one room with one track, its viewers by WebRTC, its page and signalling by HTTP, its source by the link or by an
/// application of its own.
///
/// Everything runs on threads of its own; methods may be called on any thread but those.
public final class ScreenRelayHost: Sendable {
    /// The room that viewers find the track in.
    public let room: String
    /// Where HTTP really listens.
    public let addresses: [ListenAddress]
    /// The UDP port that all viewers use.
    public let mediaPort: UInt16

    private let configuration: HostConfiguration
    private let ingest: TrackIngest
    private let media: MediaServer
    let signalling: SignallingServer
    private let log: EventLog
    private let recorder = Mutex<LinkRecorder?>(nil)
    let readers: PlainReaders

    /// Starts a host without a source. `onSourceChange` is told when one comes or goes, on the source's thread; it must
    /// not block.
    public init(
        _ configuration: HostConfiguration, log: EventLog = .silent,
        onSourceChange: @escaping @Sendable (Ingest.SourceState) -> Void = { _ in }
    ) throws(HostError) {
        self.configuration = configuration
        self.log = log
        room = configuration.room
        let hub = TrackHub(origin: monotonicNow())
        let announcer = StateAnnouncer(room: configuration.room)
        let pointer = PointerAnnouncer(room: configuration.room)
        do throws(IngestError) {
            ingest = try TrackIngest(
                hub: hub, log: log,
                onStateChange: { state in
                    announcer.announce(state)
                    onSourceChange(state)
                }, onPointer: { pointer.announce($0) })
        } catch {
            throw .system("\(error)")
        }
        let mediaConfiguration = MediaServerConfiguration(
            bind: configuration.mediaAddress, advertised: configuration.advertised)
        do throws(WebRTCError) {
            media = try MediaServer(mediaConfiguration, log: log)
        } catch {
            throw HostError(error)
        }
        mediaPort = media.port
        var signallingConfiguration = SignallingConfiguration(
            listen: configuration.listen,
            rooms: [
                RoomConfiguration(
                    name: configuration.room, token: configuration.token,
                    media: RoomMediaBridge(ingest: ingest, media: media, log: log))
            ])
        signallingConfiguration.allowedOrigins = configuration.allowedOrigins
        // A page holds a connection for as long as it watches: room for as many as the media server takes, and as many again.
        signallingConfiguration.limits.connections = mediaConfiguration.sessionLimit * 2
        signallingConfiguration.lan = configuration.isOpenToNetwork
        signallingConfiguration.hostNames = configuration.hostNames
        signallingConfiguration.log = { log.info($0) }
        signallingConfiguration.onEvent = configuration.onRoomNews
        signallingConfiguration.administration = configuration.administration
        signalling = SignallingServer(signallingConfiguration)
        do throws(SignallingError) {
            try signalling.start()
        } catch {
            media.stop()
            throw .signalling(error)
        }
        addresses = signalling.addresses
        readers = PlainReaders(signalling, room: configuration.room)
        announcer.connect(signalling)
        pointer.connect(signalling)
    }

    /// Takes captures in over the link; the returned server ends it, and records nothing more then. ``stop()`` waits for what
    /// is recorded to reach its file.
    ///
    /// - Parameters:
    ///   - address: where captures connect; nil where connected sockets are handed over by `adopt`.
    ///   - token: what captures have to show that come over TCP; nil where nothing, and then only from this machine.
    ///   - recording: a file, which must not exist, for the link's messages as they pass. Who records counts as a viewer that
    ///     can't draw the pointer. Where the file can't grow any more that is logged, and sharing goes on. One that has got no
    ///     message is removed in the end.
    public func openLink(at address: LinkAddress?, token: LinkToken? = nil, recording: String? = nil) throws(HostError)
        -> LinkServer
    {
        let recorder = try recording.map { path throws(HostError) in try openRecording(path) }
        readers.recordings(recorder == nil ? 0 : 1)
        do throws(LinkTransportError) {
            let link = try LinkServer(
                at: address, token: token, ingest: ingest, name: "screenrelay \(screenRelayVersion)",
                recorder: recorder, onRecordingEnd: { [readers] in readers.recordings(0) }, log: log)
            self.recorder.withLock { $0 = recorder }
            return link
        } catch {
            readers.recordings(0)
            recorder?.close()
            throw .link(error)
        }
    }

    private func openRecording(_ path: String) throws(HostError) -> LinkRecorder {
        do throws(RecordingFileError) {
            return try LinkRecorder(path: path, log: log)
        } catch {
            throw .recording(error)
        }
    }

    /// What the recording of the link does, or has done once this has stopped; nil where there is none.
    public var recording: RecordingStatus? { recorder.withLock { $0?.status } }

    /// Makes `track` the room's track; false where the room has a source already.
    public func publish(_ track: CustomVideoTrack) -> Bool {
        track.attach(to: ingest)
    }

    /// The link that opens the room's page: `http://HOST:PORT/#ROOM,TOKEN`. For the machine itself where the host is on
    /// loopback, else for others in its network.
    public var link: String {
        let address = addresses.first ?? ListenAddress(address: "127.0.0.1", port: 0)
        let isWildcard = address.address == "::" || address.address == "0.0.0.0"
        var host = address.address
        if isWildcard { host = LocalAddresses.reachable(port: address.port).first?.host ?? "127.0.0.1" }
        return link(host: host, port: address.port)
    }

    /// The links for those who reach the host by an advertised address, where its HTTP port is forwarded under its number.
    public var advertisedLinks: [String] {
        configuration.advertised.map { link(host: $0.host, port: addresses.first?.port ?? 0) }
    }

    private func link(host: String, port: UInt16) -> String {
        let key = configuration.token.map { "\(room),\($0)" } ?? room
        return "http://\(ListenAddress(address: host, port: port))/#\(key)"
    }

    /// Shows viewers nothing of the screen until ``resume()``: a source that can sends a slate, another one's pictures are
    /// held back. Pages say so.
    public func pause() { ingest.hold(true) }

    /// Shows the screen again, also where the sharer has paused at the source.
    public func resume() { ingest.hold(false) }

    /// Pauses, or goes on where the sharer has paused.
    public func togglePause() { ingest.toggleHold() }

    /// What the source does now, as viewers are told.
    public var sourceState: Ingest.SourceState { ingest.state }
    /// How far away the source is and its clock, where it came over TCP and that is known.
    public var sourceTiming: SourceTiming? { ingest.sourceTiming }
    /// Says how many read the track beside viewers and players and can't draw the pointer, such as an application's own recordings;
    /// that of the link counts by itself. While there is one, it is drawn into the pictures.
    public func setPlainReaders(_ count: Int) { readers.others(count) }

    /// Sets what the source may make and send at most, also those that come after it; an application's own track is told the
    /// bit rate alone.
    public func limit(_ limits: SourceLimits) { ingest.limit(limits) }

    /// What ``limit(_:)`` has set.
    public var limits: SourceLimits { ingest.limits }

    /// Has a capture code once more, finer than usual, what stands still on the screen; false where there is no source.
    @discardableResult
    public func sharpen() -> Bool { ingest.sharpen() }

    /// What the capture has told last of its work, about once a second while something changes; nil where there is none.
    public var captureStatistics: CaptureStatistics? { ingest.statistics }

    /// How many watch now.
    public var viewers: Int { ingest.hub.viewers }

    /// Hands what every viewer's session has done to `completion`, on the media thread.
    public func statistics(_ completion: @escaping @Sendable ([PeerStatistics]) -> Void) {
        media.statistics(completion)
    }

    /// Ends HTTP, WebSockets and every viewer's session; viewers are told. Then closes the link's recording, for which it
    /// waits 5 s at most: ``recording`` says what the disk has not taken. Idempotent.
    ///
    /// The link is ended by its own ``LinkServer/stop()``, a published track by ``CustomVideoTrack/end(reason:)``,
    /// both before this.
    public func stop() {
        signalling.stop()
        media.stop()
        recorder.withLock { $0 }?.close()
    }
}
