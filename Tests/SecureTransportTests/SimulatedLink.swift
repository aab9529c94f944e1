import MediaTypes
import SecureTransport
import TestSupport

/// A server and a client of ours, with a path between them that loses, repeats and reorders datagrams.
///
/// OpenSSL's retransmission timer runs on its own clock, so that a handshake here takes real time, some 20 ms for
/// each lost flight.
final class SimulatedLink {
    let server: DTLSTransport
    let client: DTLSTransport
    /// Out of 100 datagrams, as many are lost; half as many are repeated or overtaken.
    private let lossPercent: Int
    private var random: SeededRandom
    private var toServer: [[UInt8]] = []
    private var toClient: [[UInt8]] = []
    /// The largest datagram that was sent.
    private(set) var largestDatagram = 0

    init(
        serverContext: DTLSContext, clientContext: DTLSContext, serverExpects: CertificateFingerprint? = nil,
        clientExpects: CertificateFingerprint? = nil, mtu: Int = 1200, lossPercent: Int = 0, seed: UInt64 = 0
    ) throws {
        server = try DTLSTransport(
            context: serverContext, role: .server,
            expectedFingerprint: serverExpects ?? clientContext.certificate.fingerprint, mtu: mtu)
        client = try DTLSTransport(
            context: clientContext, role: .client,
            expectedFingerprint: clientExpects ?? serverContext.certificate.fingerprint, mtu: mtu)
        self.lossPercent = lossPercent
        random = SeededRandom(seed: seed)
    }

    /// Runs until neither side is shaking hands; failures are left in the states.
    func shakeHands() throws {
        try? client.start(now: now())
        try eventually("the end of the handshake", within: .seconds(90)) {
            step()
            return [client, server].allSatisfy { side in
                if case .connected = side.state { side.isComplete } else { side.state != .handshaking }
            }
        }
    }

    /// Runs until nothing is on the way.
    func settle() {
        repeat { step() } while !toServer.isEmpty || !toClient.isEmpty
    }

    /// Delivers what is on the way, then lets due timers fire.
    func step() {
        send(client.takeOutgoing(), over: &toServer)
        send(server.takeOutgoing(), over: &toClient)
        for datagram in toServer { try? server.handle(datagram: datagram[...], now: now()) }
        for datagram in toClient { try? client.handle(datagram: datagram[...], now: now()) }
        toServer.removeAll()
        toClient.removeAll()
        for side in [server, client] {
            if let due = side.nextTimeout(now: now()), due <= now() { try? side.handleTimeout(now: now()) }
        }
        send(client.takeOutgoing(), over: &toServer)
        send(server.takeOutgoing(), over: &toClient)
    }

    private func send(_ datagrams: [[UInt8]], over path: inout [[UInt8]]) {
        for datagram in datagrams {
            largestDatagram = max(largestDatagram, datagram.count)
            if chance(lossPercent) { continue }
            if chance(lossPercent / 2) { path.append(datagram) }
            let position = chance(lossPercent / 2) ? Int.random(in: 0...path.count, using: &random) : path.count
            path.insert(datagram, at: position)
        }
    }

    private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
}

extension DTLSTransport {
    /// The keys, if the session stands.
    var keys: SRTPKeys? {
        if case .connected(let keys) = state { keys } else { nil }
    }
}

/// A context with a certificate of its own. It repeats flights after a few milliseconds, so that lost ones cost little
/// time; a test that counts flights needs a time that no busy machine exceeds.
func makeContext(
    profiles: [SRTPProfile] = [.aeadAES128GCM, .aes128CMHMACSHA1], firstRetransmission: Interval = .milliseconds(20)
) throws -> DTLSContext {
    try DTLSContext(certificate: Certificate(), profiles: profiles, firstRetransmission: firstRetransmission)
}
