/// One client's requests and the state of its session (RFC 2326 appendix A). A connection has one session at most, so
/// requests need not name it.
///
/// Pure: requests go in, and it says what to do. What takes time or looks at the host is done by the caller, who then
/// asks for the answer.
public struct RTSPConversation: Sendable {
    /// What a request asks for.
    public enum Step: Sendable {
        /// Send only this answer.
        case answer(RTSPAnswer)
        /// The description of a place, with this sound if there is any; ``described(_:at:)`` is the answer.
        case describe(RTSPPlace, sound: [RTSPMedia])
        /// A stream of a place, for the session; ``setUp(_:_:_:at:ports:source:ssrc:)`` is the answer.
        case setUp(RTSPPlace, RTSPMedia, RTSPTransport)
        /// To publish into a place what the request's body describes; ``announced(_:at:)`` is the answer. Ask
        /// ``RTSPAnnouncement`` for its meaning.
        case announce(RTSPPlace)
        /// To receive the announced stream with this index; ``receiving(_:_:ports:source:)`` is the answer.
        case receive(Int, RTSPTransport)
        /// To begin to publish; ``recording()`` is the answer.
        case record
        /// To begin to send; ``playing(_:)`` is the answer.
        case play
        /// To stop sending for a while; ``paused()`` is the answer.
        case pause
        /// To end the session; ``tornDown()`` is the answer.
        case tearDown
    }

    /// The states of a session (RFC 2326 section A.2).
    public enum State: Sendable {
        case idle, announced, ready, playing, recording
    }

    /// A stream that the client has set up.
    public struct Stream: Sendable {
        /// The kind of media that the stream carries.
        public let media: RTSPMedia
        /// How its packets reach the client.
        public let transport: RTSPTransport
        /// The URL that the client calls it by, for the answer to PLAY.
        fileprivate let url: String
    }

    /// For how many seconds a session stays without a request or report.
    public static let timeout = 60
    static let realm = "screenrelay"
    private static let methods = [
        "OPTIONS", "DESCRIBE", "ANNOUNCE", "SETUP", "PLAY", "RECORD", "PAUSE", "TEARDOWN", "GET_PARAMETER",
        "SET_PARAMETER",
    ]

    /// The session's state.
    public private(set) var state = State.idle
    /// What the session shows, or publishes into; nil without one.
    public private(set) var place: RTSPPlace?
    /// What the client publishes; nil if it plays.
    private var announcement: RTSPAnnouncement?
    /// How the announced streams arrive, by their indices, as far as they are set up.
    private var received: [Int: RTSPTransport] = [:]
    /// The session's streams, in the order in which they were set up first. All play and pause together.
    public private(set) var streams: [Stream] = []
    private let session: String

    /// A conversation whose session, once it has one, is called `session`: letters and digits alone, since some clients
    /// take no other.
    public init(session: String) {
        self.session = session
    }

    /// What to do with a request. It changes nothing yet.
    public func step(for request: RTSPRequest) -> Step {
        guard request.sequence != nil else { return .answer(RTSPAnswer(.badRequest)) }
        if let wanted = request.header("require") {
            return .answer(RTSPAnswer(.optionNotSupported, [("Unsupported", wanted)]))
        }
        if let named = request.session, named != session || state == .idle {
            return .answer(RTSPAnswer(.sessionNotFound))
        }
        switch request.method {
        case "OPTIONS": return .answer(RTSPAnswer(.ok, [("Public", Self.methods.joined(separator: ", "))]))
        case "GET_PARAMETER", "SET_PARAMETER":
            // There is no parameter; clients send an empty request to keep the session.
            return .answer(RTSPAnswer(.ok, state == .idle ? [] : [sessionHeader]))
        case "DESCRIBE":
            guard announcement == nil else { return .answer(RTSPAnswer(.notValidInThisState)) }
            guard let url = RTSPURL(request.url) else { return .answer(RTSPAnswer(.notFound)) }
            let sound = RTSPMedia.sound(wanted: url.audio, player: request.header("user-agent"))
            return .describe(url.place, sound: sound)
        case "ANNOUNCE":
            guard state == .idle else { return .answer(RTSPAnswer(.notValidInThisState)) }
            guard let url = RTSPURL(request.url) else { return .answer(RTSPAnswer(.notFound)) }
            return .announce(url.place)
        case "SETUP":
            return announcement.map { stepForSetup(of: $0, request) } ?? stepForSetup(request)
        case "PLAY": return isSetUp && announcement == nil ? .play : .answer(RTSPAnswer(.notValidInThisState))
        case "RECORD": return isSetUp && announcement != nil ? .record : .answer(RTSPAnswer(.notValidInThisState))
        case "PAUSE": return isSetUp ? .pause : .answer(RTSPAnswer(.notValidInThisState))
        case "TEARDOWN": return state == .idle ? .answer(RTSPAnswer(.sessionNotFound)) : .tearDown
        case "REDIRECT":
            return .answer(RTSPAnswer(.methodNotAllowed, [("Allow", Self.methods.joined(separator: ", "))]))
        default: return .answer(RTSPAnswer(.notImplemented))
        }
    }

    /// Whether the session has a stream.
    private var isSetUp: Bool { [.ready, .playing, .recording].contains(state) }

    private func stepForSetup(of announcement: RTSPAnnouncement, _ request: RTSPRequest) -> Step {
        guard state != .recording else { return .answer(RTSPAnswer(.notValidInThisState)) }
        guard let index = announcement.index(of: request.url) else { return .answer(RTSPAnswer(.notFound)) }
        let others = received.filter { $0.key != index }.map(\.value)
        let header = request.header("transport") ?? ""
        guard let transport = RTSPTransport(choosingFrom: header, isRecorded: true),
            // Datagrams are told apart by the ports that they come from.
            !others.contains(where: { $0.sharesPorts(with: transport) })
        else { return .answer(RTSPAnswer(.unsupportedTransport)) }
        return .receive(index, onFreeChannels(transport, besides: others))
    }

    private func stepForSetup(_ request: RTSPRequest) -> Step {
        guard state != .playing else { return .answer(RTSPAnswer(.notValidInThisState)) }
        guard let url = RTSPURL(request.url) else { return .answer(RTSPAnswer(.notFound)) }
        // A session has the streams of one track.
        if let place, place != url.place { return .answer(RTSPAnswer(.aggregateNotAllowed)) }
        guard let transport = request.header("transport").flatMap({ RTSPTransport(choosingFrom: $0) }) else {
            return .answer(RTSPAnswer(.unsupportedTransport))
        }
        let media = url.media ?? .pictures
        let others = streams.filter { $0.media != media }.map(\.transport)
        return .setUp(url.place, media, onFreeChannels(transport, besides: others))
    }

    /// The transport for a stream, on other channels if another stream has them: some clients name none, or the same
    /// ones for each.
    private func onFreeChannels(_ transport: RTSPTransport, besides others: [RTSPTransport]) -> RTSPTransport {
        guard case .interleaved(let rtp, let rtcp) = transport else { return transport }
        let taken = others.flatMap { other -> [UInt8] in
            if case .interleaved(let rtp, let rtcp) = other { [rtp, rtcp] } else { [] }
        }
        guard taken.contains(rtp) || taken.contains(rtcp) else { return transport }
        // Each of the other streams has two channels, so that a pair is soon found.
        var first: UInt8 = 0
        while taken.contains(first) || taken.contains(first + 1) { first += 2 }
        return .interleaved(rtp: first, rtcp: first + 1)
    }

    // MARK: Answers

    /// The answer to a client that has to prove that it may watch.
    public static func challenge(nonce: String, offersDigest: Bool) -> RTSPAnswer {
        let digest = [("WWW-Authenticate", "Digest realm=\"\(realm)\", nonce=\"\(nonce)\"")]
        return RTSPAnswer(
            .unauthorized, (offersDigest ? digest : []) + [("WWW-Authenticate", "Basic realm=\"\(realm)\"")])
    }

    /// The answer with a place's description, to a request with `url`.
    public static func described(_ text: String, at url: String) -> RTSPAnswer {
        let base = url.prefix { $0 != "?" }
        return RTSPAnswer(
            .ok,
            [("Content-Type", "application/sdp"), ("Content-Base", base.hasSuffix("/") ? String(base) : base + "/")],
            body: text)
    }

    /// Adds a stream to the session, or replaces it, and begins the session with the first one. `url` is the request's;
    /// `ports` are the host's own, for UDP.
    public mutating func setUp(
        _ place: RTSPPlace, _ media: RTSPMedia, _ transport: RTSPTransport, at url: String,
        ports: (rtp: UInt16, rtcp: UInt16), source: String, ssrc: UInt32
    ) -> RTSPAnswer {
        self.place = place
        let stream = Stream(media: media, transport: transport, url: url)
        if let index = streams.firstIndex(where: { $0.media == media }) {
            streams[index] = stream
        } else {
            streams.append(stream)
        }
        state = .ready
        let digits = String(ssrc, radix: 16, uppercase: true)
        let number = String(repeating: "0", count: 8 - digits.count) + digits
        return setUpAnswer(transport, ports: ports, source: source, end: "ssrc=\(number)")
    }

    private func setUpAnswer(
        _ transport: RTSPTransport, ports: (rtp: UInt16, rtcp: UInt16), source: String, end: String
    ) -> RTSPAnswer {
        let text =
            switch transport {
            case .interleaved(let rtp, let rtcp): "RTP/AVP/TCP;unicast;interleaved=\(rtp)-\(rtcp)"
            case .udp(let rtp, let rtcp):
                "RTP/AVP;unicast;client_port=\(rtp)-\(rtcp);server_port=\(ports.rtp)-\(ports.rtcp);source=\(source)"
            }
        return RTSPAnswer(
            .ok, [("Transport", "\(text);\(end)"), ("Session", "\(session);timeout=\(Self.timeout)")])
    }

    /// Notes what the client publishes, and where, and returns the answer to ANNOUNCE.
    public mutating func announced(_ announcement: RTSPAnnouncement, at place: RTSPPlace) -> RTSPAnswer {
        self.announcement = announcement
        self.place = place
        state = .announced
        return RTSPAnswer(.ok)
    }

    /// Adds an announced stream to the session, or replaces it, and returns the answer to SETUP.
    public mutating func receiving(
        _ index: Int, _ transport: RTSPTransport, ports: (rtp: UInt16, rtcp: UInt16), source: String
    ) -> RTSPAnswer {
        received[index] = transport
        state = .ready
        return setUpAnswer(transport, ports: ports, source: source, end: "mode=record")
    }

    /// Notes that the client sends its streams, and returns the answer to RECORD.
    public mutating func recording() -> RTSPAnswer {
        state = .recording
        return RTSPAnswer(.ok, [sessionHeader])
    }

    /// Notes that the streams are sent. `first` gives the number of a stream's next packet, and the timestamp of the
    /// moment at which playing begins, which is the same moment for all; nil for a stream that can't be sent.
    public mutating func playing(
        _ first: (RTSPMedia) -> (sequenceNumber: UInt16, timestamp: UInt32)?
    ) -> RTSPAnswer {
        state = .playing
        let info = streams.compactMap { stream in
            first(stream.media).map { "url=\(stream.url);seq=\($0.sequenceNumber);rtptime=\($0.timestamp)" }
        }
        return RTSPAnswer(
            .ok, [sessionHeader, ("Range", "npt=0.000-"), ("RTP-Info", info.joined(separator: ","))])
    }

    /// Pauses the session, and returns the answer to PAUSE.
    public mutating func paused() -> RTSPAnswer {
        state = .ready
        return RTSPAnswer(.ok, [sessionHeader])
    }

    /// Forgets the session, and returns the answer to TEARDOWN.
    public mutating func tornDown() -> RTSPAnswer {
        let answer = RTSPAnswer(.ok, [sessionHeader])
        self = RTSPConversation(session: session)
        return answer
    }

    private var sessionHeader: (String, String) { ("Session", session) }
}
