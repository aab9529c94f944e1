import MediaTypes
import RTP
import STUN
import SecureTransport
import TestSupport

@testable import SDP
@testable import WebRTC

/// The other end of a session: checks, DTLS, SRTP, pictures put together again, and requests for what is missing.
///
/// Sans-IO, like the session: datagrams and the time go in, ``takeOutgoing()`` gives what is to be sent.
final class TestViewer {
    /// What the host's answer said, and what the viewer said in its offer.
    struct Settings {
        var hostUfrag = "host"
        var hostPassword = "a password of the host"
        var ufrag = "peer"
        var password = "a password of the peer"
        var hostFingerprint: CertificateFingerprint
        var media = SSRC(0x1122_3344)
        /// Nil where the viewer takes no retransmission stream.
        var retransmission: SSRC? = SSRC(0x1122_3345)
        var dtlsRole = DTLSTransport.Role.client
    }

    /// A media packet as it came.
    struct Packet {
        var rtp: RTPPacket
        var time: MonotonicTime
        var isRetransmission: Bool
        var byteCount: Int
    }

    /// An ICE restart changes them.
    var settings: Settings
    let context: DTLSContext
    private let dtls: DTLSTransport
    private var protector: SRTPSession?
    private var order = ArrivalOrder()
    private var reassembler = FrameReassembler(.h264)
    private var outgoing: [[UInt8]] = []
    private var asked: [UInt16: MonotonicTime] = [:]
    private var lastTransaction: UInt64 = 0
    private var lastReception: (highest: UInt32, received: Int)?

    /// Whether it asks for packets that are missing.
    var repairsLosses = true
    /// Every packet that authenticated, in the order of arrival.
    private(set) var packets: [Packet] = []
    /// The access units, in order; each comes once nothing before it is missing.
    private(set) var pictures: [(unit: ReceivedFrame, time: MonotonicTime)] = []
    private(set) var reports: [(report: SenderReport, time: MonotonicTime)] = []
    private(set) var canonicalNames: [String] = []
    /// The answers to its reference times.
    private(set) var answers: [(delay: ExtendedReport.Delay, time: MonotonicTime)] = []
    private(set) var replies: [STUNMessage] = []
    /// Requests of the host's that came; they are answered unless `answersRequests` says otherwise.
    private(set) var hostRequests = 0
    var answersRequests = true
    /// Whether its checks claim the controlled role.
    var isControlled = false
    /// Datagrams that did not authenticate.
    private(set) var strangeDatagrams = 0
    private(set) var sentNacks = 0

    init(_ settings: Settings, context: DTLSContext) throws {
        self.settings = settings
        self.context = context
        dtls = try DTLSTransport(
            context: context, role: settings.dtlsRole, expectedFingerprint: settings.hostFingerprint)
    }

    var isConnected: Bool { protector != nil }
    var hasEnded: Bool { dtls.state == .closed }
    var highestSequenceNumber: UInt32 { order.highest }

    func takeOutgoing() -> [[UInt8]] {
        defer { outgoing.removeAll() }
        return outgoing
    }

    // MARK: What it sends

    /// Sends a connectivity check.
    func check(nominates: Bool = true) {
        outgoing.append(checkRequest(nominates: nominates).bytes)
    }

    func checkRequest(nominates: Bool = true) -> CheckRequest {
        lastTransaction += 1
        return CheckRequest(
            username: "\(settings.hostUfrag):\(settings.ufrag)", password: settings.hostPassword, nominates: nominates,
            isControlled: isControlled, transaction: lastTransaction)
    }

    func startDTLS(now: MonotonicTime) {
        try? dtls.start(now: now)
        outgoing += dtls.takeOutgoing()
    }

    /// Says goodbye by DTLS.
    func close() {
        dtls.close()
        outgoing += dtls.takeOutgoing()
    }

    /// Sends RTCP; nothing before the keys stand.
    func send(_ packets: RTCPPacket...) {
        if let datagram = protected(packets) { outgoing.append(datagram) }
    }

    func protected(_ packets: [RTCPPacket]) -> [UInt8]? {
        var datagram: [UInt8] = []
        for packet in packets { packet.write(into: &datagram) }
        guard let protector, (try? protector.protectRTCP(&datagram)) != nil else { return nil }
        return datagram
    }

    func requestKeyFrame() {
        send(.pictureLossIndication(PictureLossIndication(sender: SSRC(1), media: settings.media)))
    }

    func orderKeyFrame(number: UInt8) {
        let entry = FullIntraRequest.Entry(ssrc: settings.media, sequenceNumber: number)
        send(.fullIntraRequest(FullIntraRequest(sender: SSRC(1), entries: [entry])))
    }

    /// Reports what came in, answering the last sender report.
    func report(fractionLost: UInt8 = 0, now: MonotonicTime) {
        let last = reports.last
        let reception = ReceptionReport(
            ssrc: settings.media, fractionLost: fractionLost, cumulativeLost: 0, highestSequenceNumber: order.highest,
            jitter: 0, lastSenderReport: last?.report.ntpTime.middle32 ?? 0,
            delaySinceLastSenderReport: last.map {
                UInt32(clamping: (now - $0.time).nanoseconds / 1000 * 65536 / 1_000_000)
            } ?? 0)
        send(.receiverReport(ReceiverReport(ssrc: SSRC(1), receptionReports: [reception])))
    }

    /// Reports what came in since the last such report, as RFC 3550 appendix A.3 has it.
    func reportReception(now: MonotonicTime) {
        let received = packets.count { $0.rtp.header.ssrc == settings.media }
        let expected = lastReception.map { Int(order.highest &- $0.highest) } ?? 0
        let lost = max(expected - (received - (lastReception?.received ?? 0)), 0)
        lastReception = (order.highest, received)
        report(fractionLost: UInt8(clamping: expected > 0 ? lost * 256 / expected : 0), now: now)
    }

    /// Asks for what is missing: the same number again only after 40 ms.
    func poll(now: MonotonicTime) {
        guard repairsLosses else { return }
        let due = order.missing.filter { asked[$0.rawValue].map { now - $0 >= .milliseconds(40) } ?? true }
        guard !due.isEmpty else { return }
        for number in due { asked[number.rawValue] = now }
        sentNacks += 1
        send(.genericNack(GenericNack(sender: SSRC(1), media: settings.media, sequenceNumbers: due)))
    }

    // MARK: What it gets

    func receive(_ datagram: [UInt8], now: MonotonicTime) {
        switch DatagramKind(of: datagram) {
        case .stun: receiveReply(datagram, now: now)
        case .dtls: receiveDTLS(datagram, now: now)
        case .rtp: receiveMedia(datagram, now: now)
        case .rtcp: receiveReports(datagram, now: now)
        case .other: strangeDatagrams += 1
        }
    }

    private func receiveReply(_ datagram: [UInt8], now: MonotonicTime) {
        guard let reply = try? STUNMessage(parsing: datagram) else {
            strangeDatagrams += 1
            return
        }
        guard reply.messageClass != .request else { return answer(reply) }
        replies.append(reply)
        let isGenuine = reply.hasValidIntegrity(
            key: Array(settings.hostPassword.utf8), hmac: { Authentication.hmacSHA1(key: $0, data: $1) })
        if isGenuine, reply.messageClass == .success, settings.dtlsRole == .client { startDTLS(now: now) }
    }

    /// As a full agent answers any check; where it came from is not what matters here.
    private func answer(_ request: STUNMessage) {
        let key = Array(settings.password.utf8)
        func hmac(_ key: [UInt8], _ data: [UInt8]) -> [UInt8] { Authentication.hmacSHA1(key: key, data: data) }
        guard request.username == "\(settings.ufrag):\(settings.hostUfrag)",
            request.hasValidIntegrity(key: key, hmac: hmac), request.unknownRequiredAttributes.isEmpty
        else {
            strangeDatagrams += 1
            return
        }
        hostRequests += 1
        guard answersRequests else { return }
        outgoing.append(
            STUNMessage.success(
                to: request, from: TransportAddress(ipv4: 192, 0, 2, 200, port: 7000), key: key, hmac: hmac))
    }

    private func receiveDTLS(_ datagram: [UInt8], now: MonotonicTime) {
        try? dtls.handle(datagram: datagram[...], now: now)
        outgoing += dtls.takeOutgoing()
        if case .connected(let keys) = dtls.state, protector == nil { protector = try? SRTPSession(keys: keys) }
    }

    private func receiveMedia(_ datagram: [UInt8], now: MonotonicTime) {
        var plain = datagram
        guard let protector, (try? protector.unprotect(&plain)) != nil, let packet = try? RTPPacket(parsing: plain[...])
        else {
            strangeDatagrams += 1
            return
        }
        let isRetransmission = packet.header.ssrc == settings.retransmission
        packets.append(
            Packet(rtp: packet, time: now, isRetransmission: isRetransmission, byteCount: datagram.count))
        var number = packet.header.sequenceNumber
        if isRetransmission {
            guard packet.payload.count >= 2 else { return }
            number = SequenceNumber(packet.payload.prefix(2).reduce(0) { $0 << 8 | UInt16($1) })
        } else if packet.header.ssrc != settings.media {
            return
        }
        for ready in order.insert(packet, number: number, isRetransmission: isRetransmission) {
            assemble(ready, now: now)
        }
    }

    private func assemble(_ packet: RTPPacket, now: MonotonicTime) {
        var header = packet.header
        var payload = packet.payload
        if header.ssrc == settings.retransmission {
            header.sequenceNumber = SequenceNumber(payload.prefix(2).reduce(0) { $0 << 8 | UInt16($1) })
            header.ssrc = settings.media
            payload = payload.dropFirst(2)
        }
        for unit in reassembler.receive(header, payload: payload) { pictures.append((unit, now)) }
    }

    private func receiveReports(_ datagram: [UInt8], now: MonotonicTime) {
        var plain = datagram
        guard let protector, (try? protector.unprotectRTCP(&plain)) != nil,
            let packets = try? RTCPPacket.parse(plain[...])
        else {
            strangeDatagrams += 1
            return
        }
        for packet in packets {
            switch packet {
            case .senderReport(let report): reports.append((report, now))
            case .extendedReport(let report): answers += report.delays.map { ($0, now) }
            default: break
            }
        }
        canonicalNames += Self.canonicalNames(in: plain)
    }

    /// The names in the source descriptions of a compound packet, each of one source.
    private static func canonicalNames(in compound: [UInt8]) -> [String] {
        var names: [String] = []
        var rest = compound[...]
        while rest.count >= 4 {
            let words = Int(rest[rest.startIndex + 2]) << 8 | Int(rest[rest.startIndex + 3])
            let packet = Array(rest.prefix(4 + 4 * words))
            if packet[1] == 202, packet.count > 10 {
                names.append(String(decoding: packet[10...].prefix(Int(packet[9])), as: UTF8.self))
            }
            rest = rest.dropFirst(packet.count)
        }
        return names
    }
}

extension StreamFormats {
    /// Sound, as browsers number its payload type; `red` is that of RED, if the viewer takes it.
    static func opus(red: UInt8?) -> StreamFormats {
        StreamFormats(formats: [
            NegotiatedSection.Format(
                payloadType: 111, rtxPayloadType: nil, redPayloadType: red, track: TrackFormat(codec: .opus),
                parameters: "", feedback: [])
        ])
    }

    /// Formats of H.264, each with its payload type and that of its retransmissions.
    init(yuv420: (PayloadType, PayloadType?), yuv444: (PayloadType, PayloadType?)? = nil) {
        let listed: [(ChromaFormat, (PayloadType, PayloadType?)?)] = [(.yuv420, yuv420), (.yuv444, yuv444)]
        self.init(
            formats: listed.compactMap { chroma, types in
                types.map {
                    NegotiatedSection.Format(
                        payloadType: $0.rawValue, rtxPayloadType: $1?.rawValue,
                        track: TrackFormat(codec: .h264, chroma: chroma), parameters: "", feedback: [])
                }
            })
    }
}
