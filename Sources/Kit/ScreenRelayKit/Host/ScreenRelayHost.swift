import Clocks
public import FoundationEssentials
import Glibc
public import Ingest
public import MediaSessions
public import MediaTypes
import Rooms
import SecureTransport
public import Signalling
import Synchronization
public import Threading
public import TrackHub
import WebRTC

/// A host: rooms with tracks, viewers over WebRTC, pages and signalling over HTTP. Each track's source connects over
/// the link or is the application's own.
///
/// A host starts with one track in its first room (``firstTrack``). Everything runs on its own threads. Methods may be
/// called on any other thread.
public final class ScreenRelayHost: Sendable {
    /// The name of the first track of the first room.
    public static let firstTrackName = TrackName.screen.text

    /// The first room, which has the first track.
    public let room: String
    /// The addresses that HTTP really listens on.
    public let addresses: [ListenAddress]
    /// The UDP port for all viewers, and the TCP port for viewers who can't use UDP.
    public let mediaPort: UInt16
    /// The first track, which is never removed.
    public let firstTrack: HostedTrack

    /// The configuration, parts of which change while the host runs.
    let current: Mutex<Access>
    private let media: MediaServer
    let signalling: SignallingServer
    let log: EventLog
    let hosted: HostTracks
    private let recorders: TrackRecorders
    let commands = CommandAnswers()
    private let metricsText = MetricsText()
    /// When links expire, in seconds since the machine started.
    let expiryTime: Int?

    /// Starts a host without a source.
    ///
    /// - Parameters:
    ///   - configuration: how the host can be reached, and by whom.
    ///   - log: gets the host's log messages.
    ///   - onSourceChange: called when the first track's source changes its state, on the source's thread.
    ///   - onVisit: called when a participant enters or leaves a room, on the signalling thread.
    ///   - onChat: called when a viewer has written in the chat, on the signalling thread.
    ///   - onExpiry: called with a room's name when its links have expired, on the signalling thread.
    ///
    /// The closures must not block. Throws ``HostError`` if HTTP can't listen, if the media port can't be used, if the
    /// first track's recording can't be created, or if no thread is left.
    public init(
        _ configuration: HostConfiguration, log: EventLog = .silent,
        onSourceChange: @escaping @Sendable (SourceState) -> Void = { _ in },
        onVisit: @escaping @Sendable (RoomNews) -> Void = { _ in },
        onChat: @escaping @Sendable (ChatNews) -> Void = { _ in },
        onExpiry: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(HostError) {
        current = Mutex(Access(configuration: configuration))
        expiryTime = configuration.lifetime.map {
            SignallingConfiguration.bootTime() + Int(max(1, $0.components.seconds))
        }
        self.log = log
        room = configuration.room
        let mediaConfiguration = Self.mediaConfiguration(configuration, log)
        media = try Self.mediaServer(mediaConfiguration, mayUseOtherPort: configuration.mayUseOtherMediaPort, log)
        mediaPort = media.port
        let publishing = RoomPublishing(media: media, log: log)
        var signallingConfiguration: SignallingConfiguration
        do throws(SignallingError) {
            signallingConfiguration = try SignallingConfiguration(configuration, expiry: expiryTime)
        } catch {
            media.stop()
            throw .signalling(error)
        }
        // A page keeps a connection while it watches: allow twice as many as the media server allows sessions.
        signallingConfiguration.limits.connections = mediaConfiguration.sessionLimit * 2
        signallingConfiguration.clock = { [media] in media.captureClock }
        signallingConfiguration.log = { log.info($0) }
        signallingConfiguration.warn = { log.warning($0) }
        signallingConfiguration.onEvent = onVisit
        signallingConfiguration.onChat = onChat
        signallingConfiguration.onExpiry = onExpiry
        signallingConfiguration.commands = commands
        signallingConfiguration.metrics = metricsText
        signallingConfiguration.publishing = publishing
        signalling = SignallingServer(signallingConfiguration)
        recorders = TrackRecorders(configuration.recording, log: log)
        do throws(HostError) {
            firstTrack = try HostedTrack(
                Self.firstTrackName, room: configuration.room, recorder: try recorders.makeFirst(), media: media,
                signalling: signalling, log: log, onSourceChange: onSourceChange)
        } catch {
            media.stop()
            throw error
        }
        hosted = HostTracks(first: firstTrack)
        addresses = try Self.start(signalling, with: firstTrack, in: configuration.room, media)
        publishing.connect(self)
        metricsText.use { [weak self] in self?.metrics.prometheusText ?? "" }
    }

    private static func mediaConfiguration(
        _ configuration: HostConfiguration, _ log: EventLog
    ) -> MediaServerConfiguration {
        var media = MediaServerConfiguration(bind: configuration.mediaAddress, advertised: configuration.advertised)
        media.stunServers = configuration.iceServers.compactMap(\.stunAddress)
        media.reservedTCPPorts = Set(configuration.listen.map(\.port))
        media.processorLimit = ProcessorQuota.ofThisProcess
        media.threadCount = configuration.mediaThreads
        let memory = MemoryAdmission(log: log)
        media.sessionRefusal = configuration.sessionRefusal ?? { memory.refusal() }
        return media
    }

    /// Begins to serve `track`, and returns the addresses on which HTTP listens.
    private static func start(
        _ signalling: SignallingServer, with track: HostedTrack, in room: String, _ media: MediaServer
    ) throws(HostError) -> [ListenAddress] {
        signalling.addTrack(track.name, media: track.media, room: room)
        track.beginRecording()
        do throws(SignallingError) {
            try signalling.start()
        } catch {
            media.stop()
            track.linkRecorder?.close()
            throw .signalling(error)
        }
        return signalling.addresses
    }

    /// The link that opens the first room's page: `http://HOST:PORT/#ROOM,TOKEN`, or `https:`. It is for this machine
    /// if the host is on loopback, else for other machines in its network.
    public var link: String { links.first }

    /// The addresses under which other machines reach the host, beginning with the address in ``link``. Empty if the
    /// host is on loopback, and while this machine is in no network.
    public var reachableAddresses: [String] { links.reachable }

    /// All links of all rooms, when they expire, and how to present if `tellsPresenters` is true.
    public func linksDocument(tellsPresenters: Bool = false) -> LinksDocument {
        LinksDocument(
            links, expires: expiry, fingerprint: configuration.certificate?.fingerprint,
            tellsPresenters: tellsPresenters)
    }

    /// When links expire by the wall clock, which can be set; nil if they last until the host ends.
    public var expiry: Date? {
        guard let expiryTime else { return nil }
        var (sinceStart, today) = (timespec(), timespec())
        clock_gettime(CLOCK_BOOTTIME, &sinceStart)
        clock_gettime(CLOCK_REALTIME, &today)
        let seconds = Double(today.tv_sec - sinceStart.tv_sec + expiryTime)
        return Date(timeIntervalSince1970: seconds + Double(today.tv_nsec - sinceStart.tv_nsec) / 1e9)
    }

    /// The URL of `/api` and the file of its token, or nil if there is no `/api`.
    public var administration: (url: String, tokenFile: String?)? {
        configuration.administration.map { (links.administration, $0.tokenFile) }
    }

    /// The link that opens the page of a room, like ``link``. Nil if there is no such room.
    public func link(to room: String) -> String? { links.link(to: room) }

    private var links: RoomLinks { RoomLinks(configuration, addresses: addresses) }

    /// Hides all tracks from viewers until ``resume()``, and mutes them. A source sends a slate if it can, otherwise
    /// its pictures are held back. Pages show that sharing is paused.
    public func pause() { hosted.setPaused(true) }

    /// Shows all tracks again, even if the sharer has paused at the source.
    public func resume() { hosted.setPaused(false) }

    /// Pauses, or resumes if the first track is paused.
    public func togglePause() { hosted.setPaused(!isPausedBySharer) }

    /// Whether the sharer has paused the first track, here or at its source, so that ``togglePause()`` resumes.
    public var isPausedBySharer: Bool { firstTrack.ingest.hub.isPausedBySharer }

    /// Mutes the sound of all tracks, including tracks that are added later, or unmutes it unless the tracks are
    /// paused. Once the call has returned, no sound is sent that was captured before it. Pages show that the sharer is
    /// muted.
    public func mute(_ isMuted: Bool) { hosted.mute(isMuted) }

    /// Leaves the microphone out of sound captures with `--sound both` or `microphone`, or includes it again. The
    /// desktop's sound continues. The setting also applies to captures that connect later; other sources have no
    /// microphone that the host knows of.
    public func muteMicrophone(_ isMuted: Bool) { hosted.muteMicrophone(isMuted) }

    /// Whether ``muteMicrophone(_:)`` has muted it.
    public var isMicrophoneMuted: Bool { hosted.isMicrophoneMuted }

    /// Whether ``mute(_:)`` has muted the sound.
    public var isMuted: Bool { hosted.isMuted }

    /// Sets each source's highest frame rate and bit rate, including sources that connect later. An application's own
    /// track only receives the bit rate; ``ignored(of:)`` returns the limits that no source keeps to.
    public func limit(_ limits: SourceLimits) {
        hosted.limit(limits)
    }

    /// The limits that ``limit(_:)`` has set.
    public var limits: SourceLimits { hosted.limits }

    /// The number of viewers now. A viewer of two tracks counts twice.
    public var viewers: Int { tracks.map(\.viewers).reduce(0, +) }

    /// The rooms with their tracks and participants as they are now. Empty once the host has stopped.
    public func describeRooms() async -> [RoomsDocument.Room] {
        await reply(or: []) { reply in signalling.describe { reply.give($0.rooms) } }
    }

    /// Removes a participant that ``describeRooms()`` or `onVisit` named. Returns false if there is no such
    /// participant. A participant who has the link can join again.
    @discardableResult
    public func remove(participant: String) async -> Bool {
        await reply(or: false) { reply in signalling.removeParticipant(participant) { reply.give($0) } }
    }

    /// The statistics of every viewer's session, at most about a second old. Empty once the host has stopped.
    public var statistics: [PeerStatistics] { media.statistics }
    /// The totals of the media sent to all viewers so far.
    var mediaTotals: MediaTotals { media.totals }
    /// The measurements of each media thread.
    var mediaThreads: [MediaThreadStatistics] { media.threadStatistics }
    /// What all tracks have done so far, including removed tracks.
    var trackTotals: TrackTotals { hosted.totals }
    /// How late a media thread has made viewers in the last second or two, and whether all of them are overloaded.
    var mediaLoad: (lag: Interval, isOverloaded: Bool) { (media.lag, media.isOverloaded) }

    /// Admits a viewer that has no session of the media server, such as an RTSP player, or returns why there is no room
    /// for another one: memory nears its limit, or all media threads are overloaded. May be called on any thread.
    package func sessionRefusal() -> String? { media.sessionRefusal() }

    /// The recordings of all tracks, in their order, and then those of removed tracks that may not have reached their
    /// files yet. After ``stop()`` they report unwritten data.
    public var recordings: [RecordingStatus] {
        tracks.compactMap(\.recording) + recorders.ending.map(\.status)
    }

    /// Ends HTTP, WebSockets and every viewer's session, and notifies the viewers. Then closes all recordings and waits
    /// at most 5 s for their disks; ``recordings`` reports unwritten data. Idempotent.
    ///
    /// Before this call, end each link with its `LinkServer.stop()`, and each published track with
    /// ``CustomVideoTrack/end(reason:)``.
    public func stop() {
        signalling.stop()
        commands.use(nil)
        media.stop()
        recorders.close(tracks.compactMap(\.linkRecorder))
    }
}

// MARK: - Tracks

extension ScreenRelayHost {
    /// The tracks of all rooms, in the order they were added.
    public var tracks: [HostedTrack] { hosted.all }

    /// The track with this name, or nil if there is none.
    public func track(_ name: String, in room: String) -> HostedTrack? { hosted[name, in: room] }

    /// Adds a track to one of the rooms, and notifies the room's clients. It is paused, muted and limited like the
    /// others. Throws `track` if the name is invalid or taken, or if there is no such room.
    public func addTrack(_ name: String, to room: String) throws(HostError) -> HostedTrack {
        try addTrack(name, to: room, endsUnpublished: false)
    }

    /// Like `addTrack(_:to:)`. `endsUnpublished` is true for a track that is made for a publisher.
    func addTrack(_ name: String, to room: String, endsUnpublished: Bool) throws(HostError) -> HostedTrack {
        func refuse(_ reason: String) -> HostError { .track(name: name, room: room, reason: reason) }
        guard TrackName(name) != nil else {
            throw refuse("not a track name; use up to 64 letters, digits, '-', '_' and '.'")
        }
        guard room == self.room || configuration.furtherRooms.contains(where: { $0.name == room }) else {
            throw refuse("there is no such room")
        }
        let track = try HostedTrack(
            name, room: room, endsUnpublished: endsUnpublished, recorder: recorders.make(for: name, in: room),
            media: media, signalling: signalling, log: log)
        let refusal = hosted.add(track) { signalling.addTrack(name, media: track.media, room: room) }
        if let refusal {
            if let recorder = track.linkRecorder { recorders.end(recorder) }
            throw refuse(refusal)
        }
        track.beginRecording()
        return track
    }

    /// Removes a track from its room, notifies its viewers, and ends its recording without waiting for the disk. End
    /// its source first. The first track can't be removed.
    public func removeTrack(_ name: String, from room: String) {
        let removed = hosted.remove(name, from: room) { signalling.removeTrack(name, room: room) }
        if let recorder = removed?.linkRecorder { recorders.end(recorder) }
    }
}
