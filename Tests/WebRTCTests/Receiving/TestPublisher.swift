import MediaSessions
import MediaTypes
import RTP
import STUN
import SecureTransport
import Synchronization
import TrackHub

@testable import WebRTC

/// A program that publishes: checks, DTLS, and our own sender of pictures at the other end of a receiving session.
///
/// Sans-IO, like the session: datagrams and the time go in, ``takeOutgoing()`` gives what is to be sent.
final class TestPublisher {
    static let ufrag = "publ"
    static let payloadType = PayloadType(96)
    static let ssrc = SSRC(0x5566_7788)
    static let rtxSSRC = SSRC(0x1122_3344)

    let hub: TrackHub
    let source = RecordingSource()
    /// Whether what the host asks for by RTCP is done; FFmpeg does nothing of it.
    var answersFeedback = true
    /// The packets of every datagram of RTCP that came, authenticated.
    private(set) var reports: [[RTCPPacket]] = []
    /// Every packet of RTCP that came.
    var feedback: [RTCPPacket] { reports.flatMap { $0 } }
    /// The payload type of retransmissions (RFC 4588); nil to send lost packets again unchanged.
    let rtxPayloadType: PayloadType?
    private var path = PathControl(hasTransportFeedback: false, now: .zero)
    private(set) var sender: PictureSender?

    private let feed: TrackFeed
    private let dtls: DTLSTransport
    private let role: DTLSTransport.Role
    private let hostUfrag: String
    private let hostPassword: String
    private let parameters: SessionParameters
    private var protector: SRTPSession?
    private var outgoing: [[UInt8]] = []
    private var lastTransaction: UInt64 = 0

    init(
        hostUfrag: String, hostPassword: String, hostFingerprint: CertificateFingerprint, context: DTLSContext,
        role: DTLSTransport.Role, rtxPayloadType: PayloadType? = nil, now: MonotonicTime
    ) throws {
        self.rtxPayloadType = rtxPayloadType
        self.hostUfrag = hostUfrag
        self.hostPassword = hostPassword
        self.role = role
        hub = TrackHub(origin: now - .seconds(60))
        hub.connect(source: source)
        feed = TrackFeed(hub: hub, wake: {})
        feed.sessionCount = 1
        dtls = try DTLSTransport(context: context, role: role, expectedFingerprint: hostFingerprint)
        parameters = SessionParameters(
            id: MediaSessionID(rawValue: 0), localUfrag: Self.ufrag, localPassword: "", remoteUfrag: hostUfrag,
            remotePassword: hostPassword,
            remoteFingerprint: hostFingerprint, isDTLSClient: role == .client, canonicalName: "p", clock: Rig.clock)
    }

    var isConnected: Bool { protector != nil }
    var hasEnded: Bool { dtls.state == .closed }

    func takeOutgoing() -> [[UInt8]] {
        defer { outgoing.removeAll() }
        return outgoing
    }

    /// Sends a connectivity check.
    func check() {
        lastTransaction += 1
        outgoing.append(
            CheckRequest(
                username: "\(hostUfrag):\(Self.ufrag)", password: hostPassword, transaction: lastTransaction
            ).bytes)
    }

    /// Says goodbye by DTLS.
    func close() {
        dtls.close()
        outgoing += dtls.takeOutgoing()
    }

    /// Sends a packet of its own making. The header extension 4 has its transport-wide number, if there is one.
    func send(_ header: RTPPacketHeader, _ payload: [UInt8], transportNumber: UInt8? = nil) {
        var packet: [UInt8] = []
        header.write(into: &packet)
        if let transportNumber {
            packet[0] |= 0x10
            packet += [0xBE, 0xDE, 0, 1, 0x41, 0, transportNumber, 0]
        }
        packet += payload
        guard let protector, (try? protector.protect(&packet)) != nil else { return }
        outgoing.append(packet)
    }

    func publish(_ unit: CodedFrame, now: MonotonicTime) {
        hub.publish(unit, epoch: 1, arrival: now)
        advance(now: now)
    }

    /// When ``advance(now:)`` has something to do.
    var deadline: MonotonicTime { protector == nil ? .distantFuture : sender?.track.deadline ?? .distantFuture }

    func advance(now: MonotonicTime) {
        _ = feed.update(now: now)
        sender?.advance(along: &path, now: now) { datagram in
            outgoing.append(datagram)
            return true
        }
    }

    func receive(_ datagram: [UInt8], now: MonotonicTime) {
        switch DatagramKind(of: datagram) {
        case .stun:
            guard role == .client, protector == nil else { return }
            try? dtls.start(now: now)
            outgoing += dtls.takeOutgoing()
        case .dtls:
            try? dtls.handle(datagram: datagram[...], now: now)
            outgoing += dtls.takeOutgoing()
            guard case .connected(let keys) = dtls.state, protector == nil else { return }
            guard let protector = try? SRTPSession(keys: keys) else { return }
            self.protector = protector
            let track = WatchedTrack(
                hub: hub, formats: StreamFormats(yuv420: (Self.payloadType, rtxPayloadType)),
                extensions: HeaderExtensionFormat(), ssrc: Self.ssrc, retransmissionSSRC: Self.rtxSSRC)
            sender = PictureSender(
                TrackSender(track, feed: feed, of: parameters, protector: protector, roundTripTime: nil, now: now))
        case .rtcp:
            var plain = datagram
            guard let protector, (try? protector.unprotectRTCP(&plain)) != nil,
                let packets = try? RTCPPacket.parse(plain[...])
            else { return }
            reports.append(packets)
            guard answersFeedback else { return }
            sender?.handle(packets, along: &path, arrival: now, now: now) { datagram in
                outgoing.append(datagram)
                return true
            }
        case .rtp, .other: break
        }
    }
}

/// Keeps what a publisher's session hands on.
final class UnitCollector: PublishedFrameReceiver {
    private let state = Mutex((units: [PublishedFrame](), ignored: 0))

    var units: [PublishedFrame] { state.withLock { $0.units } }
    var contents: [[[UInt8]]] { units.map(\.nalUnits) }
    /// How often it was told that requests for an IDR are ignored.
    var ignored: Int { state.withLock { $0.ignored } }

    func receive(_ frame: PublishedFrame) { state.withLock { $0.units.append(frame) } }
    func keyFrameRequestsIgnored() { state.withLock { $0.ignored += 1 } }
}
