import Clocks
import LinkTransport
import MediaTypes
import RTP
import RTSP
import STUN
import ScreenRelayKit
import SecureTransport
import Signalling
import Threading
import TrackHub
import WebRTC

/// The session of one client: its requests, and the track that it watches or hears, or publishes into. Belongs to the
/// server's thread.
final class RTSPSession {
    /// A description that waits for the track's first picture.
    private struct Waiting {
        let request: RTSPRequest
        /// What the description offers if the track has sound.
        let sound: [RTSPMedia]
        let frames: TrackSubscription
        let until: MonotonicTime
        /// When to ask for a key frame again: a request soon after another one isn't passed on.
        var asksAgain: MonotonicTime
        let track: HostedTrack
    }

    let connection: SocketConnection
    let host: ScreenRelayHost
    let access: ViewerAccess
    let ports: RTSPPorts
    let served: ServedPublishers
    let wake: PlayerWake
    let limits: RTSPServerLimits
    let log: EventLog
    let remote: TransportAddress
    let local: String
    let nonce = SecureRandom.bytes(16).hexadecimal()
    /// The clock of the reports on all of the session's streams.
    private let clock = NTPClock(unixOffset: .unixOffsetOfMonotonicClock())

    var conversation = RTSPConversation(session: SecureRandom.bytes(8).hexadecimal())
    /// Where the client's datagrams come from: a player's reports, or all of a publisher's streams.
    var peerAddresses: [TransportAddress] = []
    /// What the client publishes; nil if it plays.
    var recording: RTSPRecording?
    private var waiting: Waiting?
    /// Kept from a description until the player plays, so that the source goes on meanwhile.
    private var described: TrackSubscription?
    /// The streams that are sent: sound before pictures, because it is small and a gap in it is heard.
    private var sendings: [any PlayerSending] = []
    /// The track that the session shows.
    private(set) var track: HostedTrack?
    /// When the player last sent something.
    var lastSign = MonotonicTime.now()
    /// The number of wrong tokens so far.
    var wrongCredentials = 0
    /// Whether the client has found a track that it may watch or publish into.
    var isAdmitted = false
    /// Whether the host has room for the session, which is asked once.
    var hasRoom = false
    /// When to look again whether the track is there and may be watched.
    private var looksAt = MonotonicTime.zero

    /// The number of wrong tokens that a client may try over one connection.
    private static let attempts = 8

    init(
        _ connection: SocketConnection, of remote: TransportAddress, host: ScreenRelayHost, access: ViewerAccess,
        ports: RTSPPorts, served: ServedPublishers, wake: PlayerWake, limits: RTSPServerLimits, lines: LogRateLimiter
    ) {
        self.connection = connection
        self.host = host
        self.access = access
        self.ports = ports
        self.served = served
        self.wake = wake
        self.limits = limits
        self.remote = remote
        log = lines(of: remote.host)
        local = TransportAddress(localEndOf: connection.descriptor)?.host ?? "0.0.0.0"
    }

    /// Whether a player has set up a stream.
    var isSetUp: Bool { recording == nil && conversation.state != .idle }
    /// Whether an answer waits for a picture.
    var isWaiting: Bool { waiting != nil }
    var isRefused: Bool { wrongCredentials >= Self.attempts }
    /// The address of the player's machine.
    var address: String { remote.host }

    /// A player that receives its stream over the connection shows by receiving it that it is there.
    private var needsSigns: Bool {
        guard recording == nil else { return false }
        return conversation.state != .playing || !conversation.streams.contains { $0.transport.isInterleaved }
    }

    /// When there is something to do without a request.
    var deadline: MonotonicTime {
        var deadline = needsSigns ? lastSign + limits.timeout : MonotonicTime.distantFuture
        if let waiting { deadline = min(deadline, waiting.until, waiting.asksAgain) }
        for sending in sendings { deadline = min(deadline, sending.deadline) }
        if let recording { deadline = min(deadline, recording.deadline) }
        return track == nil ? deadline : min(deadline, looksAt)
    }

    /// Takes an interleaved packet.
    func receive(_ bytes: ArraySlice<UInt8>, on channel: UInt8, now: MonotonicTime) {
        // Those of players are reports, which their connection makes unnecessary.
        recording?.receive(bytes, on: channel, now: now)
    }

    /// Takes a datagram from one of ``peerAddresses``.
    ///
    /// - Parameter isReport: whether it came to the port of the reports.
    func receive(_ bytes: ArraySlice<UInt8>, from peer: TransportAddress, isReport: Bool, now: MonotonicTime) {
        if let recording { return recording.receive(bytes, from: peer, isReport: isReport, now: now) }
        guard isReport else { return }
        lastSign = now
        // Even a datagram that is no report shows that the player is there.
        for report in (try? RTCPPacket.parse(bytes))?.flatMap(\.receptionReports) ?? [] {
            for sending in sendings { sending.takeReport(report, now: now) }
        }
    }

    /// Sends what is due of the track.
    func advance(_ packets: inout PacketizedFrames, now: MonotonicTime) throws(SocketError) {
        for sending in sendings { try sending.advance(over: connection, ports, &packets, now: now) }
        try recording?.advance(over: connection, ports, now: now)
    }

    /// Why the session has to end; nil if it hasn't.
    func reasonToEnd(now: MonotonicTime) -> String? {
        if needsSigns, now - lastSign >= limits.timeout { return "nothing came for too long" }
        if let reason = recording?.reasonToEnd(now: now) { return reason }
        guard let track, now >= looksAt else { return nil }
        looksAt = now + .seconds(1)
        if access.isExpired(track.room) { return "the link has expired" }
        return host.tracks.contains { $0 === track } ? nil : "the track has been removed"
    }

    func end(because reason: String?) {
        if let track, isSetUp {
            log.info("rtsp: \(address) has left \(track.room)/\(track.name)" + (reason.map { ": \($0)" } ?? ""))
        }
        recording?.end(because: reason)
        recording = nil
        (waiting, track, described) = (nil, nil, nil)
        (sendings, peerAddresses) = ([], [])
        hasRoom = false
    }

    // MARK: Requests

    /// Answers a request, or begins to wait for what its answer needs.
    func handle(_ request: RTSPRequest, now: MonotonicTime) throws(SocketError) {
        recording?.noteRequest(now: now)
        switch conversation.step(for: request) {
        case .answer(let answer): try send(answer, to: request)
        case .describe(let place, let sound):
            guard let track = try find(place, request), try admit(request) else { return }
            describe(track, with: sound, request, now: now)
        case .setUp(let place, let media, let transport):
            guard let track = try find(place, request), try admit(request) else { return }
            try setUp(media, of: track, place, transport, request, now: now)
        case .play: try play(request, now: now)
        case .announce(let place): try announce(place, request, now: now)
        case .receive(let index, let transport): try receive(index, transport, request, now: now)
        case .record: try record(request, now: now)
        case .pause:
            for sending in sendings { sending.pause() }
            recording?.pause(now: now)
            try send(conversation.paused(), to: request)
        case .tearDown:
            end(because: nil)
            try send(conversation.tornDown(), to: request)
        }
    }

    func send(_ answer: RTSPAnswer, to request: RTSPRequest) throws(SocketError) {
        // With one call, because some clients read each answer with one.
        try connection.enqueue(header: answer.bytes(to: request.sequence))
    }

    /// The track at a place; nil if the client may not see it or there is none, after the answer that says so.
    private func find(_ place: RTSPPlace, _ request: RTSPRequest) throws(SocketError) -> HostedTrack? {
        let room = place.room ?? host.room
        if !access.isOpen(room) {
            let isProved = try prove(request) {
                access.admits($0, of: address, to: room, method: request.method, nonce: nonce)
            }
            guard isProved else { return nil }
        }
        guard try enter(room, request) else { return nil }
        let track = host.tracks.first { $0.room == room && (place.track == nil || $0.name == place.track) }
        if track == nil { try send(RTSPAnswer(.notFound), to: request) } else { isAdmitted = true }
        return track
    }

    private func describe(_ track: HostedTrack, with sound: [RTSPMedia], _ request: RTSPRequest, now: MonotonicTime) {
        let frames = track.subscribe { [wake] in wake.signal() }
        waiting = Waiting(
            request: request, sound: sound, frames: frames, until: now + limits.firstPicture,
            asksAgain: now + PictureSending.askInterval, track: track)
        track.requestStart()
    }

    /// Describes a track as soon as it has a random access frame. Returns whether the answer that waited is given.
    func answerWaiting(now: MonotonicTime) throws(SocketError) -> Bool {
        guard let waiting else { return false }
        let frame = waiting.frames.take().last { $0.coded.isRandomAccess }
        let pictures = frame.flatMap { RTSPDescription.pictures(of: $0.coded) }
        guard pictures != nil || now >= waiting.until else {
            if now >= waiting.asksAgain {
                waiting.track.requestKeyFrame()
                self.waiting?.asksAgain = now + PictureSending.askInterval
            }
            return false
        }
        self.waiting = nil
        described = waiting.frames
        try send(description(of: waiting, with: pictures), to: waiting.request)
        return true
    }

    /// The description of a track with the sections of its pictures and of its sound, if it has any.
    private func description(of waiting: Waiting, with pictures: [String]?) -> RTSPAnswer {
        let track = waiting.track
        let hasSound = track.soundState != AudioState.none
        // While the pictures are held back, a description would offer this player only audio for good.
        if pictures == nil, case .paused = track.sourceState { return RTSPAnswer(.unavailable) }
        let sections = (pictures ?? []) + (hasSound ? waiting.sound.flatMap { RTSPDescription.sound($0) } : [])
        guard !sections.isEmpty else { return RTSPAnswer(.unavailable) }
        let text = RTSPDescription.text(
            sections, name: "\(track.room)/\(track.name)", address: local, identifier: SecureRandom.uint32())
        return RTSPConversation.described(text, at: waiting.request.url)
    }

    private func setUp(
        _ media: RTSPMedia, of track: HostedTrack, _ place: RTSPPlace, _ transport: RTSPTransport,
        _ request: RTSPRequest, now: MonotonicTime
    ) throws(SocketError) {
        // A place that names no track is another one's once the first track is gone. A session's streams have one
        // clock.
        guard self.track == nil || self.track === track else {
            return try send(RTSPAnswer(.aggregateNotAllowed), to: request)
        }
        let stream = PlayerStream(media, .init(transport, of: remote), origin: track.origin, clock: clock, now: now)
        self.track = track
        sendings.removeAll { $0.stream.media == media }
        switch media {
        case .pictures: sendings.append(PictureSending(track, stream, wake: wake, secondStart: limits.secondStart))
        case .pcmu, .opus:
            sendings.insert(AudioSending(track, stream, wake: wake, timeout: limits.soundTimeout), at: 0)
        }
        let answer = conversation.setUp(
            place, media, transport, at: request.url, ports: ports.numbers, source: local, ssrc: stream.ssrc.rawValue)
        peerAddresses = conversation.streams.compactMap { stream in
            if case .udp(_, let port) = stream.transport { remote.with(port: port) } else { nil }
        }
        try send(answer, to: request)
    }

    private func play(_ request: RTSPRequest, now: MonotonicTime) throws(SocketError) {
        guard let track else { return }
        let isNew = conversation.state != .playing
        var start = now
        if isNew {
            // With the oldest that is shown, for all streams.
            start = sendings.compactMap { $0.play(now: now) }.min() ?? now
            described = nil
        }
        let answer = conversation.playing { media in
            sendings.first { $0.stream.media == media }?.stream.first(at: start)
        }
        try send(answer, to: request)
        guard isNew else { return }
        let way = conversation.streams.contains { $0.transport.isInterleaved } ? "TCP" : "UDP"
        log.info("rtsp: \(address) plays \(track.room)/\(track.name) over \(way)")
    }
}
