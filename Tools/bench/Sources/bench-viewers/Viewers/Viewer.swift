import CBench
import Clocks
import Glibc
import MediaTypes
import PictureTimeline
import RTP
import SDP
import STUN
import SecureTransport

/// What all viewers of the thread share.
final class ViewerSurroundings {
    let plan: Plan
    let context: DTLSContext
    let table = PictureTable()
    /// For packets that are decrypted or written; nothing is allocated for each.
    var scratch: [UInt8] = []
    var numbers: [SequenceNumber] = []

    init(_ plan: Plan, context: DTLSContext) {
        self.plan = plan
        self.context = context
        scratch.reserveCapacity(4096)
    }
}

/// One viewer: ICE as the controlling agent, DTLS, and the packets and reports of SRTP, over a socket of its own.
///
/// Belongs to the thread of the media. All times are CLOCK_MONOTONIC's.
final class Viewer {
    enum Phase {
        /// The offer isn't answered yet.
        case joining
        /// No check is answered yet.
        case checking
        case handshaking
        case watching
        case over
    }

    /// The waits between checks: until the first answer, and then to keep the host's consent (RFC 7675).
    private static let (checkInterval, consentInterval): (Interval, Interval) = (.milliseconds(100), .seconds(5))
    /// The time limit for the first answer, and the time without answers after which the viewer leaves.
    private static let (checkLimit, consentLimit): (Interval, Interval) = (.seconds(15), .seconds(30))

    let surroundings: ViewerSurroundings
    /// Whether it has a network path of its own, unlike most viewers. Its pictures aren't compared with theirs.
    let isOdd: Bool
    /// Whether it decrypts every packet.
    let isSample: Bool
    /// Its pictures, if it decrypts every packet and they are to be decoded.
    var pictures: PictureSample?
    private(set) var phase = Phase.joining
    /// Why it is over; nil while it isn't, or if it was closed.
    private(set) var failure: String?
    private(set) var descriptor: Int32 = -1
    /// When the offer was posted, when the DTLS handshake was over, and when the first whole picture was there.
    private(set) var began = MonotonicTime.zero
    private(set) var connected: MonotonicTime?
    private(set) var firstPicture: MonotonicTime?
    /// Whether its receiver reports always name the sequence number 0.
    var reportsFalsely = false
    /// Whether the loop looks after it more often.
    var isListed = false

    var counters = Counters()
    /// Whole pictures among those that count.
    var wholePictures = 0
    var stream: ReceivedStream?
    var statistics = ReceptionStatistics(.video)
    var arrivals = ArrivalLog()
    var timeline = ViewerTimeline()
    var nextReport = MonotonicTime.zero
    var nextKeyFrameRequest = MonotonicTime.zero
    /// The broken pictures after which a key frame was requested.
    var noticedBroken = 0
    var path: EmulatedPath
    /// The datagrams on the path, and when they leave it.
    var underway: [(bytes: [UInt8], exit: MonotonicTime)] = []
    let ssrc = SSRC(SecureRandom.uint32())
    private(set) var protector: SRTPSession?
    /// What the answer says of the payload types and of a header extension; see ``Agreement``.
    private(set) var isRetransmission: [Bool] = []
    private(set) var transportNumberID: UInt8?

    private var agreement: Agreement?
    private var agent: ICEAgent?
    private var peer: TransportAddress?
    private var dtls: DTLSTransport?
    private var check: (transaction: STUNMessage.TransactionID, datagram: [UInt8])?
    private var nextCheck = MonotonicTime.zero
    private var lastAnswer = MonotonicTime.zero

    init(_ surroundings: ViewerSurroundings, path: EmulatedPath, isOdd: Bool, isSample: Bool) {
        self.surroundings = surroundings
        self.path = path
        self.isOdd = isOdd
        self.isSample = isSample
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    var isPlaced: Bool { timeline.offset != nil }
    /// Whether it watches, or never will.
    var isSettled: Bool { firstPicture != nil || phase == .over }
    /// Whether something is due in less than 100 ms.
    var isRestless: Bool {
        switch phase {
        case .checking, .handshaking: true
        case .watching: (stream?.missingCount ?? 0) > 0
        case .joining, .over: false
        }
    }

    // MARK: Joining

    /// Starts the checks, once the offer is answered.
    func start(_ outcome: Joining<Agreement>.Outcome, now: MonotonicTime) {
        began = outcome.began
        switch outcome.result {
        case .failure(let error): end(error.description)
        case .success(let agreement):
            descriptor = cbench_udp_connected(agreement.hostAddress.address, agreement.hostAddress.port)
            guard descriptor >= 0 else { return end(BenchFailure.system("a socket").description) }
            peer = TransportAddress(connectedTo: agreement.hostAddress)
            self.agreement = agreement
            isRetransmission = agreement.isRetransmission
            transportNumberID = agreement.transportNumberID
            agent = ICEAgent(
                localUfrag: agreement.ufrag, localPassword: agreement.password, remoteUfrag: agreement.hostUfrag,
                remotePassword: agreement.hostPassword, role: .controlling(tieBreaker: SecureRandom.uint64()))
            phase = .checking
            lastAnswer = now
            sendCheck(now: now)
        }
    }

    /// Sends and handles nothing any more. The host isn't told.
    func meet(_ fate: ViewerPath.Fate) {
        guard phase != .over else { return }
        phase = .over
        guard fate == .gone, descriptor >= 0 else { return }
        counters.drops += Int(cbench_drops(descriptor))
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Tells the host that it leaves, unless it is over.
    func close() {
        guard phase != .over else { return }
        dtls?.close()
        flushHandshake()
        phase = .over
    }

    /// Notes its first whole picture.
    func noteFirstPicture(at arrival: MonotonicTime) {
        if firstPicture == nil { firstPicture = arrival }
    }

    private func end(_ reason: String) {
        guard phase != .over else { return }
        failure = reason
        phase = .over
    }

    // MARK: Time

    /// Does what is due: checks, and the handshake's retransmissions.
    func advance(now: MonotonicTime) {
        switch phase {
        case .joining, .over: return
        case .checking:
            guard now - lastAnswer < Self.checkLimit else { return end("the host answers no check") }
            if now >= nextCheck { repeatCheck(now: now) }
        case .handshaking, .watching:
            guard now - lastAnswer < Self.consentLimit else { return end("the host answers no check any more") }
            if now >= nextCheck { sendCheck(now: now) }
            if let dtls, let due = dtls.nextTimeout(now: now), now >= due {
                run { (dtls) throws(SecureTransportError) in try dtls.handleTimeout(now: now) }
            }
        }
    }

    // MARK: Datagrams

    /// Handles a datagram that left the path at `arrival`.
    func handle(_ bytes: UnsafeRawBufferPointer, arrival: MonotonicTime, now: MonotonicTime) {
        guard bytes.count >= 12, phase != .over else { return }
        switch bytes[0] {
        case 128...191:
            if (192...223).contains(bytes[1]) {
                receiveControl(bytes, arrival: arrival)
            } else {
                receiveMedia(bytes, arrival: arrival, now: now)
            }
        case 20...63 where !surroundings.plan.stopsAfterHello:
            let datagram = Array(bytes)
            run { (dtls) throws(SecureTransportError) in try dtls.handle(datagram: datagram[...], now: now) }
        case 0...3: receiveSTUN(Array(bytes), now: now)
        default: return
        }
    }

    /// Sends a datagram. One that the kernel doesn't take counts as lost.
    func send(_ datagram: [UInt8]) {
        _ = datagram.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    // MARK: ICE

    private static func hmac(_ key: [UInt8], _ data: [UInt8]) -> [UInt8] {
        Authentication.hmacSHA1(key: key, data: data)
    }

    private func sendCheck(now: MonotonicTime) {
        guard let agent, let id = STUNMessage.TransactionID(SecureRandom.bytes(12)) else { return }
        check = (id, agent.request(id, nominates: true, hmac: Self.hmac))
        repeatCheck(now: now)
    }

    private func repeatCheck(now: MonotonicTime) {
        guard let check else { return }
        send(check.datagram)
        // The consent checks of many viewers don't come at once (RFC 7675 section 5.1).
        let percent = Int64.random(in: 80...120)
        nextCheck = now + (phase == .checking ? Self.checkInterval : Self.consentInterval * percent / 100)
    }

    private func receiveSTUN(_ datagram: [UInt8], now: MonotonicTime) {
        guard let agent, let peer, let message = try? STUNMessage(parsing: datagram) else { return }
        if let reply = agent.reply(to: message, from: peer, hmac: Self.hmac) { return send(reply.datagram) }
        guard let check, agent.isAnswer(message, to: check.transaction, hmac: Self.hmac) else { return }
        lastAnswer = now
        if phase == .checking { startHandshake(now: now) }
    }

    // MARK: DTLS

    private func startHandshake(now: MonotonicTime) {
        guard let agreement else { return }
        phase = .handshaking
        nextCheck = now + Self.consentInterval
        do throws(SecureTransportError) {
            dtls = try DTLSTransport(
                context: surroundings.context, role: agreement.dtlsRole,
                expectedFingerprint: agreement.hostFingerprint)
        } catch {
            return end("DTLS: \(error)")
        }
        run { (dtls) throws(SecureTransportError) in try dtls.start(now: now) }
    }

    /// Carries out a step of DTLS, sends what it gives, and begins to watch once there are keys.
    private func run(_ step: (DTLSTransport) throws(SecureTransportError) -> Void) {
        guard let dtls else { return }
        do throws(SecureTransportError) {
            try step(dtls)
            if protector == nil, case .connected(let keys) = dtls.state {
                protector = try SRTPSession(keys: keys)
                connected = .now()
                phase = .watching
            }
        } catch {
            flushHandshake()
            return end("DTLS: \(error)")
        }
        flushHandshake()
        if case .closed = dtls.state { end("the host has closed the session") }
    }

    private func flushHandshake() {
        for datagram in dtls?.takeOutgoing() ?? [] { send(datagram) }
    }
}

extension TransportAddress {
    /// A numeric address; nil if it isn't one.
    fileprivate init?(connectedTo host: HostAddress) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, host.address, &bytes) == 1 {
            self.init(bytes: bytes.prefix(4), port: host.port)
        } else if inet_pton(AF_INET6, host.address, &bytes) == 1 {
            self.init(bytes: bytes, port: host.port)
        } else {
            return nil
        }
    }
}
