import MediaSessions
import MediaTypes
import RTP
import STUN
import SecureTransport
import Synchronization
import TestSupport
import TrackHub

@testable import WebRTC

/// A viewer on a socket of its own, let in by an offer and an answer. The test's thread does its work: ``pump()``.
final class SocketViewer {
    /// The answer lacks something.
    struct UnusableAnswer: Error, CustomStringConvertible {
        let description: String
    }

    let viewer: TestViewer
    let id: MediaSessionID
    /// How the session ended, by the server's word.
    var end: String? { ended.text.withLock { $0 } }
    /// Datagrams that came.
    private(set) var receivedDatagrams = 0
    /// Decides which datagrams are lost on their way here.
    var loses: (_ datagram: [UInt8]) -> Bool = { _ in false }

    private let ended: Ending
    private(set) var socket: any ViewerSocket
    private let address: TransportAddress

    private final class Ending: Sendable {
        let text = Mutex<String?>(nil)
    }

    /// Opens a session of `server` that watches `hub`, to be reached at `address`, over UDP unless there is a `socket`;
    /// `client` is where the offer came from, if the server is told.
    init(
        of server: MediaServer, from client: String? = nil, watching hub: TrackHub, at address: TransportAddress,
        by socket: (any ViewerSocket)? = nil, offer: String = Offers.chromium
    ) throws {
        let context = try DTLSContext(certificate: Certificate())
        let ended = Ending()
        let opened = try server.open(
            offer: offer.replacing(
                "sha-256 \(Offers.fingerprint)", with: context.certificate.fingerprint.sdpValue), from: client,
            watching: WatchedSource(video: hub)
        ) { reason in
            ended.text.withLock { $0 = reason }
        }
        id = opened.id
        self.ended = ended
        var settings = try Self.settings(from: opened.answer, to: offer)
        if opened.answer.contains("setup:active") { settings.dtlsRole = .server }
        viewer = try TestViewer(settings, context: context)
        self.address = address
        self.socket = try socket ?? DatagramSocket(to: address)
    }

    /// When a viewer of a host that looks for the path itself says where it is.
    enum Disclosure {
        case beforeAnswer
        case inAnswer
        case afterAnswer
    }

    /// Asks `server` for an offer, and gives it `answer`. With `disclosure`, the host is the controlling agent.
    init(
        ofOfferBy server: MediaServer, watching hub: TrackHub, at address: TransportAddress,
        answer: String = Answers.chromium, disclosure: Disclosure? = nil
    ) throws {
        let context = try DTLSContext(certificate: Certificate())
        let ended = Ending()
        let offered = try server.offer(watching: WatchedSource(video: hub), controlling: disclosure != nil) { reason in
            ended.text.withLock { $0 = reason }
        }
        let socket = try DatagramSocket(to: address)
        guard let port = socket.port else { throw UnusableAnswer(description: "a socket without an address") }
        let candidate = "a=candidate:1 1 udp 2130706431 \(address.host) \(port) typ host\r\n"
        if disclosure == .beforeAnswer { server.remoteCandidates(offered.id, fragment: candidate) }
        try server.accept(
            answer: answer.replacing(
                "sha-256 \(Offers.fingerprint)", with: context.certificate.fingerprint.sdpValue)
                + (disclosure == .inAnswer ? candidate : ""), for: offered.id)
        if disclosure == .afterAnswer { server.remoteCandidates(offered.id, fragment: candidate) }
        id = offered.id
        self.ended = ended
        var settings = try Self.settings(from: offered.offer, to: answer)
        if answer.contains("setup:passive") { settings.dtlsRole = .server }
        viewer = try TestViewer(settings, context: context)
        self.address = address
        self.socket = socket
    }

    /// What `host`'s description and `own`, the viewer's, say.
    private static func settings(from host: String, to own: String) throws -> TestViewer.Settings {
        func value(_ prefix: String, of description: String? = nil) throws -> String {
            let description = description ?? host
            for line in description.split(whereSeparator: \.isNewline) where line.hasPrefix(prefix) {
                return String(line.dropFirst(prefix.count))
            }
            throw UnusableAnswer(description: "no \(prefix) in \(description)")
        }
        let digits = try value("a=fingerprint:sha-256 ").split(separator: ":").compactMap { UInt8($0, radix: 16) }
        let sources = try value("a=ssrc-group:FID ").split(separator: " ").compactMap { UInt32($0) }
        guard sources.count == 2 else { throw UnusableAnswer(description: "\(sources)") }
        return TestViewer.Settings(
            hostUfrag: try value("a=ice-ufrag:"), hostPassword: try value("a=ice-pwd:"),
            ufrag: try value("a=ice-ufrag:", of: own),
            password: try value("a=ice-pwd:", of: own),
            hostFingerprint: try CertificateFingerprint(algorithm: .sha256, bytes: digits), media: SSRC(sources[0]),
            retransmission: SSRC(sources[1]))
    }

    /// Goes on at another port, as after a change of network.
    func move() throws {
        socket = try DatagramSocket(to: address)
    }

    /// Goes on over `socket`.
    func move(to socket: any ViewerSocket) {
        self.socket = socket
    }

    /// Takes what has come and sends what is due.
    func pump() {
        while let datagram = socket.receive() {
            receivedDatagrams += 1
            if !loses(datagram) { viewer.receive(datagram, now: now()) }
        }
        viewer.poll(now: now())
        for datagram in viewer.takeOutgoing() { send(datagram) }
    }

    /// Sends any datagram to the server.
    func send(_ datagram: [UInt8]) {
        socket.send(datagram)
    }

    /// Checks and shakes hands until media can flow.
    func connect() throws {
        var nextCheck = now()
        try eventually("a connection") {
            if now() >= nextCheck, !viewer.isConnected {
                viewer.check()
                nextCheck = now() + .milliseconds(300)
            }
            pump()
            return viewer.isConnected
        }
    }

    /// Waits as an ICE-lite server does: it answers the host's requests, and begins DTLS, if that is its part, after
    /// the first of them.
    func connectAsLiteServer() throws {
        var hasBegun = false
        try eventually("a connection") {
            pump()
            if !hasBegun, viewer.hostRequests > 0, viewer.settings.dtlsRole == .client {
                hasBegun = true
                viewer.startDTLS(now: now())
                pump()
            }
            return viewer.isConnected
        }
    }

    /// Whether the last picture that came is `unit`, whole.
    func shows(_ unit: CodedFrame) -> Bool {
        guard let last = viewer.pictures.last?.unit else { return false }
        return last.isComplete && last.nalUnits == unit.contents
    }
}
