import Clocks
import LinkTransport
import MediaTypes
import RTSP
import STUN
import ScreenRelayKit
import SecureTransport
import Threading
import TrackHub
import WebRTC

/// What one player asks for and gets: its requests, and the track that it watches. Belongs to the server's thread.
final class RTSPSession {
    /// A description that waits for the track's first picture.
    private struct Waiting {
        let request: RTSPRequest
        let frames: TrackSubscription
        let until: MonotonicTime
        /// When to ask for a key frame again: a request soon after another one isn't passed on.
        var asksAgain: MonotonicTime
        let track: HostedTrack
    }

    private let connection: LinkConnection
    private let host: ScreenRelayHost
    private let access: ViewerAccess
    private let ports: RTSPPorts
    private let wake: WakeUp
    private let limits: RTSPServerLimits
    private let log: EventLog
    private let remote: TransportAddress
    private let local: String
    private let nonce = randomDigits(32)

    private var conversation = RTSPConversation(session: randomDigits(16))
    private var waiting: Waiting?
    /// Kept from a description until the player plays, so that the source goes on meanwhile.
    private var described: TrackSubscription?
    private var sending: RTSPSending?
    /// What the session shows.
    private(set) var track: HostedTrack?
    /// When something came of the player.
    var lastSign = MonotonicTime.now()
    private var wrongCredentials = 0
    /// When to look again whether the track is there and may be watched.
    private var looksAt = MonotonicTime.zero

    /// A client may try so many wrong tokens over one connection.
    private static let attempts = 8

    init(
        _ connection: LinkConnection, host: ScreenRelayHost, access: ViewerAccess, ports: RTSPPorts, wake: WakeUp,
        limits: RTSPServerLimits, lines: LineBudget
    ) {
        (self.connection, self.host, self.access, self.ports) = (connection, host, access, ports)
        (self.wake, self.limits) = (wake, limits)
        remote = TransportAddress(peerOf: connection.descriptor) ?? TransportAddress(ipv4: 0, 0, 0, 0, port: 0)
        log = lines(of: remote.host)
        local = TransportAddress(localEndOf: connection.descriptor)?.host ?? "0.0.0.0"
    }

    var isSetUp: Bool { conversation.state != .idle }
    /// Whether an answer waits for a picture.
    var isWaiting: Bool { waiting != nil }
    var isRefused: Bool { wrongCredentials >= Self.attempts }
    /// The address of the player's machine.
    var address: String { remote.host }

    /// Who takes pictures over the connection shows by that alone that he is there.
    private var needsSigns: Bool {
        if case .interleaved = conversation.transport, conversation.state == .playing { return false }
        return true
    }

    /// When there is something to do without a request.
    var deadline: MonotonicTime {
        var deadline = needsSigns ? lastSign + limits.patience : MonotonicTime.distantFuture
        if let waiting { deadline = min(deadline, waiting.until, waiting.asksAgain) }
        if let sending { deadline = min(deadline, sending.deadline) }
        return track == nil ? deadline : min(deadline, looksAt)
    }

    /// Takes note of a report that came by UDP.
    func takeReport(from peer: TransportAddress) {
        guard case .udp(_, let port) = conversation.transport else { return }
        if peer == remote.with(port: port) { lastSign = .now() }
    }

    /// Sends what is due of the track.
    func advance(_ packets: inout PacketizedFrames, now: MonotonicTime) throws(LinkTransportError) {
        try sending?.advance(over: connection, ports, &packets, now: now)
    }

    /// Why the session has to end; nil if it hasn't.
    func reasonToEnd(now: MonotonicTime) -> String? {
        if needsSigns, now - lastSign >= limits.patience { return "nothing came for too long" }
        guard let track, now >= looksAt else { return nil }
        looksAt = now + .seconds(1)
        if access.isExpired(track.room) { return "the link has expired" }
        return host.tracks.contains { $0 === track } ? nil : "the track has been removed"
    }

    func end(because reason: String?) {
        if let track, isSetUp {
            log.info("rtsp: \(address) has left \(track.room)/\(track.name)" + (reason.map { ": \($0)" } ?? ""))
        }
        (waiting, sending, track, described) = (nil, nil, nil, nil)
    }

    // MARK: Requests

    /// Answers a request, or begins to wait for what its answer needs.
    func handle(_ request: RTSPRequest, now: MonotonicTime) throws(LinkTransportError) {
        switch conversation.step(for: request) {
        case .answer(let answer): try send(answer, to: request)
        case .describe(let place):
            guard let track = try find(place, request) else { return }
            describe(track, request, now: now)
        case .setUp(let place, let transport):
            guard let track = try find(place, request) else { return }
            try setUp(track, place, transport, request, now: now)
        case .play: try play(request, now: now)
        case .pause:
            sending?.pause()
            try send(conversation.paused(), to: request)
        case .tearDown:
            end(because: nil)
            try send(conversation.tornDown(), to: request)
        }
    }

    private func send(_ answer: RTSPAnswer, to request: RTSPRequest) throws(LinkTransportError) {
        // With one call, because some clients read each answer with one.
        try connection.enqueue(header: answer.bytes(to: request.sequence))
    }

    /// The track at a place; nil if the client may not see it or there is none, after the answer that says so.
    private func find(_ place: RTSPPlace, _ request: RTSPRequest) throws(LinkTransportError) -> HostedTrack? {
        let room = place.room ?? host.room
        if !access.isOpen(room) {
            let credentials = request.header("authorization").flatMap { RTSPCredentials($0) }
            let isRight = credentials.map { access.admits($0, to: room, method: request.method, nonce: nonce) }
            guard isRight == true else {
                if isRight == false { wrongCredentials += 1 }
                // The same for a room that doesn't exist, so that nobody learns which ones do.
                try send(RTSPConversation.challenge(nonce: nonce, offersDigest: !access.needsPassword), to: request)
                return nil
            }
        }
        let track = host.tracks.first { $0.room == room && (place.track == nil || $0.name == place.track) }
        if track == nil { try send(RTSPAnswer(.notFound), to: request) }
        return track
    }

    private func describe(_ track: HostedTrack, _ request: RTSPRequest, now: MonotonicTime) {
        let frames = track.subscribe { [wake] in wake.signal() }
        waiting = Waiting(
            request: request, frames: frames, until: now + limits.firstPicture,
            asksAgain: now + RTSPSending.askInterval, track: track)
        track.requestStart()
    }

    /// Describes a track as soon as it has a random access frame. Returns whether the answer that waited is given.
    func answerWaiting(now: MonotonicTime) throws(LinkTransportError) -> Bool {
        guard let waiting else { return false }
        let frame = waiting.frames.take().last { $0.coded.isRandomAccess }
        let name = "\(waiting.track.room)/\(waiting.track.name)"
        let text = frame.flatMap {
            RTSPDescription.text(of: $0.coded, name: name, address: local, identifier: SecureRandom.uint32())
        }
        guard text != nil || now >= waiting.until else {
            if now >= waiting.asksAgain {
                waiting.track.requestKeyFrame()
                self.waiting?.asksAgain = now + RTSPSending.askInterval
            }
            return false
        }
        (self.waiting, described) = (nil, waiting.frames)
        let answer = text.map { RTSPConversation.described($0, at: waiting.request.url) }
        try send(answer ?? RTSPAnswer(.unavailable), to: waiting.request)
        return true
    }

    private func setUp(
        _ track: HostedTrack, _ place: RTSPPlace, _ transport: RTSPTransport, _ request: RTSPRequest, now: MonotonicTime
    ) throws(LinkTransportError) {
        let way: RTSPSending.Way =
            switch transport {
            case .interleaved(let rtp, let rtcp): .connection(rtp: rtp, rtcp: rtcp)
            case .udp(let rtp, let rtcp): .datagrams(rtp: remote.with(port: rtp), rtcp: remote.with(port: rtcp))
            }
        let sending = RTSPSending(track, way, wake: wake, now: now)
        (self.sending, self.track) = (sending, track)
        let answer = conversation.setUp(
            place, transport, at: request.url, ports: ports.numbers, source: local, ssrc: sending.ssrc)
        try send(answer, to: request)
    }

    private func play(_ request: RTSPRequest, now: MonotonicTime) throws(LinkTransportError) {
        guard let sending, let track else { return }
        let isNew = conversation.state != .playing
        if isNew {
            sending.play(now: now)
            described = nil
        }
        let first = sending.next
        try send(conversation.playing(sequenceNumber: first.number, timestamp: first.timestamp), to: request)
        guard isNew else { return }
        let way = if case .udp = conversation.transport { "UDP" } else { "TCP" }
        log.info("rtsp: \(address) plays \(track.room)/\(track.name) over \(way)")
    }
}

/// So many hexadecimal digits that nobody can guess.
private func randomDigits(_ count: Int) -> String {
    SecureRandom.bytes(count / 2).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
