import CLinux
import Clocks
import Glibc
import LinkTransport
import MediaTypes
import RTP
import RTSP
import STUN
import ScreenRelayKit
import SecureTransport
import Threading
import TrackHub
import WebRTC

/// One player's connection, and its session. Belongs to the server's thread.
final class RTSPClient {
    /// A description that waits for the track's first picture.
    private struct Waiting {
        let request: RTSPRequest
        let name: String
        let frames: TrackSubscription
        let until: MonotonicTime
        /// When to ask for a key frame again: a request soon after another one isn't passed on.
        var asksAgain: MonotonicTime
        let track: HostedTrack
    }

    let connection: LinkConnection
    private let host: ScreenRelayHost
    private let access: ViewerAccess
    private let ports: RTSPPorts
    private let wake: WakeUp
    private let limits: RTSPServerLimits
    private let log: EventLog
    private let remote: TransportAddress
    private let local: String
    private let nonce = randomDigits(32)

    private var reader = RTSPReader()
    private var conversation: RTSPConversation
    private var waiting: Waiting?
    /// Kept from a description until the player plays, so that the source goes on meanwhile.
    private var described: TrackSubscription?
    private var sending: RTSPSending?
    /// What the session shows.
    private var track: HostedTrack?
    private var lastSign = MonotonicTime.now()
    private var wrongCredentials = 0
    /// Nothing more is read or sent, and the connection ends once all is written, or then.
    private var endsBy: MonotonicTime?
    /// When to look again whether the track is there and may be watched.
    private var looksAt = MonotonicTime.zero
    private(set) var isOver = false

    /// A client may try so many wrong tokens over one connection.
    private static let attempts = 8
    /// While more than this waits to be written, no further request is read.
    private static let mostUnwritten = 256 << 10
    private static let lookInterval = Interval.seconds(1)

    init(
        _ connection: LinkConnection, host: ScreenRelayHost, access: ViewerAccess, ports: RTSPPorts, wake: WakeUp,
        limits: RTSPServerLimits, lines: LineBudget
    ) {
        (self.connection, self.host, self.access, self.ports) = (connection, host, access, ports)
        (self.wake, self.limits) = (wake, limits)
        remote = TransportAddress(peerOf: connection.descriptor) ?? TransportAddress(ipv4: 0, 0, 0, 0, port: 0)
        log = lines(of: remote.host)
        local = TransportAddress(localEndOf: connection.descriptor)?.host ?? "0.0.0.0"
        conversation = RTSPConversation(session: randomDigits(16))
        keepLittleUnsent()
    }

    /// Makes the kernel accept little more than the peer has room for, so that a slow player isn't sent seconds of old
    /// pictures.
    private func keepLittleUnsent() {
        var value: Int32 = 128 << 10
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(connection.descriptor, Int32(IPPROTO_TCP), shim_TCP_NOTSENT_LOWAT, &value, size)
    }

    var hasSession: Bool { conversation.state != .idle }

    /// The address of the player's machine.
    var address: String { remote.host }

    /// The track of the session.
    var shownTrack: HostedTrack? { track }

    /// What `poll` has to wait for.
    var events: Int32 {
        // While a description waits, so do the requests after it: answers come in the order of their requests.
        let reads = waiting == nil && endsBy == nil && connection.pendingBytes < Self.mostUnwritten
        return (reads ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0)
    }

    /// When `advance` has something to do.
    var deadline: MonotonicTime {
        var deadline = needsSigns ? lastSign + limits.patience : MonotonicTime.distantFuture
        if let waiting { deadline = min(deadline, waiting.until, waiting.asksAgain) }
        if let sending { deadline = min(deadline, sending.deadline) }
        if track != nil { deadline = min(deadline, looksAt) }
        return min(deadline, endsBy ?? .distantFuture)
    }

    /// Who takes pictures over the connection shows by that alone that he is there.
    private var needsSigns: Bool {
        if case .interleaved = conversation.transport, conversation.state == .playing { return false }
        return true
    }

    /// Reads and answers what has come, and sends what is due. `events` are those that have come.
    func advance(_ events: Int32, _ packets: inout PacketizedFrames, _ buffer: inout [UInt8], now: MonotonicTime) {
        do {
            if connection.wantsWrite { try connection.flush() }
            if events & POLLIN != 0 {
                try read(&buffer, now: now)
            } else if events & (POLLHUP | POLLERR) != 0 {
                return end(because: "the connection is gone")
            }
            try answerWaiting(now: now)
            try sending?.advance(over: connection, ports, &packets, now: now)
        } catch {
            return end(because: "the connection has failed: \(error)")
        }
        if let endsBy, !connection.hasPending || now >= endsBy { return end(because: nil) }
        if needsSigns, now - lastSign >= limits.patience { return end(because: "nothing came for too long") }
        if let track, now >= looksAt { look(at: track, now: now) }
    }

    /// Ends the session of a track that is gone, or of a link that has expired.
    private func look(at track: HostedTrack, now: MonotonicTime) {
        looksAt = now + Self.lookInterval
        if access.isExpired(track.room) { return end(because: "the link has expired") }
        if !host.tracks.contains(where: { $0 === track }) { end(because: "the track has been removed") }
    }

    /// Ends the connection once the last answer is written.
    private func endAfterAnswer(now: MonotonicTime) {
        endsBy = now + .seconds(2)
        endSession()
        waiting = nil
    }

    /// Takes note of a report that came by UDP.
    func takeReport(from peer: TransportAddress) {
        guard case .udp(_, let port) = conversation.transport else { return }
        if peer == remote.with(port: port) { lastSign = .now() }
    }

    private func end(because reason: String?) {
        guard !isOver else { return }
        endSession(reason)
        connection.close()
        isOver = true
    }

    private func endSession(_ reason: String? = nil) {
        if let track, conversation.state != .idle {
            log.info("rtsp: \(remote.host) has left \(track.room)/\(track.name)" + (reason.map { ": \($0)" } ?? ""))
        }
        (sending, track, described) = (nil, nil, nil)
    }

    // MARK: Requests

    private func read(_ buffer: inout [UInt8], now: MonotonicTime) throws(LinkTransportError) {
        switch try connection.receive(into: &buffer) {
        case .wouldBlock: return
        case .closed: return end(because: nil)
        case .bytes(let count): reader.append(buffer[..<count])
        }
        lastSign = now
        try handleRequests(now: now)
    }

    private func handleRequests(now: MonotonicTime) throws(LinkTransportError) {
        do throws(RTSPFault) {
            while waiting == nil, endsBy == nil, connection.pendingBytes < Self.mostUnwritten,
                let item = try reader.next()
            {
                guard case .request(let request) = item else { continue }
                do throws(LinkTransportError) {
                    try handle(request, now: now)
                } catch {
                    return end(because: "the connection has failed: \(error)")
                }
            }
        } catch {
            endAfterAnswer(now: now)
            try connection.enqueue(header: error.answer.bytes(to: nil))
        }
    }

    private func handle(_ request: RTSPRequest, now: MonotonicTime) throws(LinkTransportError) {
        switch conversation.step(for: request) {
        case .answer(let answer): try send(answer, to: request)
        case .describe(let place):
            guard let track = try find(place, request, now: now) else { return }
            describe(track, request, now: now)
        case .setUp(let place, let transport):
            guard let track = try find(place, request, now: now) else { return }
            try setUp(track, place, transport, request, now: now)
        case .play: try play(request, now: now)
        case .pause:
            sending?.pause()
            try send(conversation.paused(), to: request)
        case .tearDown:
            endSession()
            try send(conversation.tornDown(), to: request)
        }
    }

    private func send(_ answer: RTSPAnswer, to request: RTSPRequest) throws(LinkTransportError) {
        // With one call, because some clients read each answer with one.
        try connection.enqueue(header: answer.bytes(to: request.sequence))
    }

    /// The track at a place; nil if the client may not see it or there is none, after the answer that says so.
    private func find(_ place: RTSPPlace, _ request: RTSPRequest, now: MonotonicTime) throws(LinkTransportError)
        -> HostedTrack?
    {
        let room = place.room ?? host.room
        if !access.isOpen(room) {
            let credentials = request.header("authorization").flatMap { RTSPCredentials($0) }
            let isRight = credentials.map { access.admits($0, to: room, method: request.method, nonce: nonce) }
            guard isRight == true else {
                if isRight == false { wrongCredentials += 1 }
                if wrongCredentials >= Self.attempts { endAfterAnswer(now: now) }
                // The same for a room that doesn't exist, so that nobody learns which ones do.
                try send(
                    RTSPConversation.challenge(nonce: nonce, offersDigest: !access.needsPassword), to: request)
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
            request: request, name: "\(track.room)/\(track.name)", frames: frames, until: now + limits.firstPicture,
            asksAgain: now + RTSPSending.askInterval, track: track)
        track.requestStart()
    }

    /// Describes a track as soon as it has a random access frame.
    private func answerWaiting(now: MonotonicTime) throws(LinkTransportError) {
        guard let waiting else { return }
        let frame = waiting.frames.take().last { $0.coded.isRandomAccess }
        let text = frame.flatMap {
            RTSPDescription.text(
                of: $0.coded, name: waiting.name, address: local, identifier: SecureRandom.uint32())
        }
        guard text != nil || now >= waiting.until else {
            if now >= waiting.asksAgain {
                waiting.track.requestKeyFrame()
                self.waiting?.asksAgain = now + RTSPSending.askInterval
            }
            return
        }
        (self.waiting, described) = (nil, waiting.frames)
        let answer = text.map { RTSPConversation.described($0, at: waiting.request.url) }
        try send(answer ?? RTSPAnswer(.unavailable), to: waiting.request)
        try handleRequests(now: now)
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
        try send(
            conversation.setUp(
                place, transport, at: request.url, ports: ports.numbers, source: local, ssrc: sending.ssrc), to: request
        )
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
        log.info("rtsp: \(remote.host) plays \(track.room)/\(track.name) over \(way)")
    }
}

/// So many hexadecimal digits that nobody can guess.
private func randomDigits(_ count: Int) -> String {
    SecureRandom.bytes(count / 2).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
