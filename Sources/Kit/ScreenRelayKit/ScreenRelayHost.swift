public import CaptureLink
public import Foundation
import Glibc
public import Ingest
public import LinkTransport
import MediaTypes
import Rooms
public import SecureTransport
public import Signalling
public import Threading
public import WebRTC

/// A host: rooms with tracks in them, their viewers by WebRTC, their pages and signalling by HTTP, each track's source by the
/// link or by an application of its own.
///
/// It begins with one track in its first room, which most of its methods are about. Everything runs on threads of its own;
/// methods may be called on any thread but those.
public final class ScreenRelayHost: Sendable {
    /// What the first track of the first room is called.
    public static let firstTrackName = TrackName.screen.text

    /// The first room, that viewers find the first track in.
    public let room: String
    /// Where HTTP really listens.
    public let addresses: [ListenAddress]
    /// The UDP port that all viewers use.
    public let mediaPort: UInt16
    /// The track that is there from the beginning, to the end.
    public let firstTrack: HostedTrack

    private let configuration: HostConfiguration
    private let media: MediaServer
    let signalling: SignallingServer
    let log: EventLog
    private let hosted: HostTracks
    let commands = CommandAnswers()
    /// When links end, in seconds since the machine started.
    private let expiryTime: Int?

    /// Starts a host without a source. `onSourceChange` is told when one comes to the first track or goes, on the source's
    /// thread; `onVisit` who comes into a room and leaves it, and `onExpiry` the room whose links have expired, on the signalling
    /// thread. They must not block.
    public init(
        _ configuration: HostConfiguration, log: EventLog = .silent,
        onSourceChange: @escaping @Sendable (Ingest.SourceState) -> Void = { _ in },
        onVisit: @escaping @Sendable (RoomNews) -> Void = { _ in },
        onExpiry: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(HostError) {
        self.configuration = configuration
        expiryTime = configuration.lifetime.map {
            SignallingConfiguration.bootTime() + Int(max(1, $0.components.seconds))
        }
        self.log = log
        room = configuration.room
        let mediaConfiguration = MediaServerConfiguration(
            bind: configuration.mediaAddress, advertised: configuration.advertised)
        do throws(WebRTCError) {
            media = try MediaServer(mediaConfiguration, log: log)
        } catch {
            throw HostError(error)
        }
        mediaPort = media.port
        do throws(HostError) {
            firstTrack = try HostedTrack(
                Self.firstTrackName, room: configuration.room, media: media, log: log, onSourceChange: onSourceChange)
        } catch {
            media.stop()
            throw error
        }
        hosted = HostTracks(first: firstTrack)
        let publishing = RoomPublishing(media: media, log: log)
        var signallingConfiguration: SignallingConfiguration
        do throws(SignallingError) {
            signallingConfiguration = try SignallingConfiguration(
                configuration, expiry: expiryTime, firstTrack: firstTrack.bridge)
        } catch {
            media.stop()
            throw .signalling(error)
        }
        // A page holds a connection for as long as it watches: room for as many as the media server takes, and as many again.
        signallingConfiguration.limits.connections = mediaConfiguration.sessionLimit * 2
        let clock = media
        signallingConfiguration.clock = { clock.captureClock }
        signallingConfiguration.log = { log.info($0) }
        signallingConfiguration.onEvent = onVisit
        signallingConfiguration.onExpiry = onExpiry
        signallingConfiguration.commands = commands
        signallingConfiguration.publishing = publishing
        signalling = SignallingServer(signallingConfiguration)
        do throws(SignallingError) {
            try signalling.start()
        } catch {
            media.stop()
            throw .signalling(error)
        }
        addresses = signalling.addresses
        firstTrack.connect(signalling)
        publishing.connect(self)
    }

    /// Takes captures in over the link for the first track: see ``HostedTrack/openLink(at:admission:recording:recordingLimit:)``.
    public func openLink(
        at address: LinkAddress?, admission: LinkAdmission = LinkAdmission(), recording: String? = nil,
        recordingLimit: UInt64? = nil
    ) throws(HostError) -> LinkServer {
        try firstTrack.openLink(
            at: address, admission: admission, recording: recording, recordingLimit: recordingLimit)
    }

    /// What the recording of the first track's link does, or has done once this has stopped; nil where there is none.
    public var recording: RecordingStatus? { firstTrack.recording }

    /// Makes `track` the first track's source; false where that has one already.
    public func publish(_ track: CustomVideoTrack) -> Bool { firstTrack.publish(track) }

    /// Shows another certificate to who connects from now on; who is connected stays so. Only for a host that began with one.
    public func use(_ certificate: ServerCertificate) throws(HostError) {
        do throws(SignallingError) {
            signalling.use(try TLSCertificate(certificate))
        } catch {
            throw .signalling(error)
        }
    }

    /// The link that opens the room's page: `http://HOST:PORT/#ROOM,TOKEN`, or `https:`. For the machine itself where the host is on
    /// loopback, else for others in its network.
    public var link: String { links.first }

    /// The addresses under which other machines reach the host, the one that ``link`` names first; empty where the host is on
    /// loopback, and while this machine is in no network.
    public var reachableAddresses: [String] { links.reachable }

    /// All links of all rooms, when they end, and, where `tellsPresenters`, what somebody needs who is to present.
    public func linksDocument(tellsPresenters: Bool = false) -> LinksDocument {
        LinksDocument(links, expires: expiry, tellsPresenters: tellsPresenters)
    }

    /// When links end, on the clock of the day, which somebody may set; nil: when the host does.
    public var expiry: Date? {
        guard let expiryTime else { return nil }
        var (sinceStart, today) = (timespec(), timespec())
        clock_gettime(CLOCK_BOOTTIME, &sinceStart)
        clock_gettime(CLOCK_REALTIME, &today)
        let seconds = Double(today.tv_sec - sinceStart.tv_sec + expiryTime)
        return Date(timeIntervalSince1970: seconds + Double(today.tv_nsec - sinceStart.tv_nsec) / 1e9)
    }

    /// Where `/api` is, and the file that its token is kept in; nil where there is no `/api`.
    public var administration: (url: String, tokenFile: String?)? {
        configuration.administration.map { (links.administration, $0.tokenFile) }
    }

    /// The link that opens the page of one of the rooms, as ``link``; nil where there is no such room.
    public func link(to room: String) -> String? { links.link(to: room) }

    private var links: RoomLinks { RoomLinks(configuration, addresses: addresses) }

    /// Shows viewers nothing of any track until ``resume()``: a source that can sends a slate, another one's pictures are
    /// held back. Pages say so.
    public func pause() { hosted.hold(true) }

    /// Shows all again, also where the sharer has paused at the source.
    public func resume() { hosted.hold(false) }

    /// Pauses, or goes on where the first track's sharer has paused.
    public func togglePause() {
        hosted.hold(firstTrack.ingest.toggleHold())
    }

    /// What the first track's source does now, as viewers are told.
    public var sourceState: Ingest.SourceState { firstTrack.sourceState }
    /// How far away the source is and its clock, where it came over TCP and that is known.
    public var sourceTiming: SourceTiming? { firstTrack.ingest.sourceTiming }
    /// Says how many read the first track beside viewers and players and can't draw the pointer, such as an application's own
    /// recordings; that of the link counts by itself. While there is one, it is drawn into the pictures.
    public func setPlainReaders(_ count: Int) { firstTrack.readers.others(count) }

    /// Sets what each source may make and send at most, also those that come after it; an application's own track is told the
    /// bit rate alone.
    public func limit(_ limits: SourceLimits) {
        hosted.limit(limits)
    }

    /// What ``limit(_:)`` has set.
    public var limits: SourceLimits { hosted.limits }

    /// Has every capture code once more, finer than usual, what stands still on its screen; false where there is no source.
    @discardableResult
    public func sharpen() -> Bool {
        // All of them, whatever the first one says.
        tracks.map { $0.ingest.sharpen() }.contains(true)
    }

    /// What the first track's capture has told last of its work, about once a second while something changes; nil where there is
    /// none.
    public var captureStatistics: CaptureStatistics? { firstTrack.ingest.statistics }

    /// How many watch now; who watches two tracks counts twice.
    public var viewers: Int { tracks.map(\.viewers).reduce(0, +) }

    /// The rooms as they are now, with their tracks and visitors; none once the host has stopped.
    public func describeRooms() async -> [RoomReport] {
        await reply(or: []) { reply in signalling.describe { reply.give($0) } }
    }

    /// Has a visitor leave that ``describeRooms()`` or `onVisit` told of; false where there is no such one. Who has the link can
    /// come back.
    @discardableResult
    public func kick(_ visitor: String) async -> Bool {
        await reply(or: false) { reply in signalling.kick(visitor) { reply.give($0) } }
    }

    /// What every viewer's session has done; none once the host has stopped.
    public func statistics() async -> [PeerStatistics] {
        await reply(or: []) { reply in media.statistics { reply.give($0) } }
    }

    /// Ends HTTP, WebSockets and every viewer's session; viewers are told. Then closes the links' recordings, for each of which
    /// it waits 5 s at most: ``HostedTrack/recording`` says what the disk has not taken. Idempotent.
    ///
    /// A link is ended by its own ``LinkServer/stop()``, a published track by ``CustomVideoTrack/end(reason:)``,
    /// both before this.
    public func stop() {
        signalling.stop()
        commands.use(nil)
        media.stop()
        for track in tracks { track.stop() }
    }
}

// MARK: - Tracks

extension ScreenRelayHost {
    /// The tracks of all rooms, in the order they came.
    public var tracks: [HostedTrack] { hosted.all }

    /// The track of that name; nil where there is none.
    public func track(_ name: String, in room: String) -> HostedTrack? { hosted[name, in: room] }

    /// Adds a track to one of the rooms; who is there is told. It is paused and limited as the others are.
    public func addTrack(_ name: String, to room: String) throws(HostError) -> HostedTrack {
        try addTrack(name, to: room, endsUnpublished: false)
    }

    /// As above; `endsUnpublished`: it is made for a publisher.
    func addTrack(_ name: String, to room: String, endsUnpublished: Bool) throws(HostError) -> HostedTrack {
        func refuse(_ reason: String) -> HostError { .track(name: name, room: room, reason: reason) }
        guard TrackName(name) != nil else {
            throw refuse("not a track name; use up to 64 letters, digits, '-', '_' and '.'")
        }
        guard room == self.room || configuration.furtherRooms.contains(where: { $0.name == room }) else {
            throw refuse("there is no such room")
        }
        let track = try HostedTrack(name, room: room, endsUnpublished: endsUnpublished, media: media, log: log)
        let refusal = hosted.add(track) { signalling.addTrack(name, media: track.bridge, room: room) }
        if let refusal { throw refuse(refusal) }
        track.connect(signalling)
        return track
    }

    /// Takes a track out of its room; who watches it is told. End its source before. The first track stays.
    public func removeTrack(_ name: String, from room: String) {
        let removed = hosted.remove(name, from: room) { signalling.removeTrack(name, room: room) }
        removed?.stop()
    }
}
