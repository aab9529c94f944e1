import MediaTypes
import SecureTransport
import TestSupport
import Testing

@Suite("DTLS sessions")
struct DTLSTransportTests {
    @Test("both sides agree on the keys, each for its direction", arguments: SRTPProfile.allCases)
    func agreesOnKeys(profile: SRTPProfile) throws {
        let link = try SimulatedLink(
            serverContext: makeContext(), clientContext: makeContext(profiles: [profile]))
        try link.shakeHands()
        let server = try #require(link.server.keys)
        let client = try #require(link.client.keys)
        #expect(server.profile == profile)
        #expect(client.profile == profile)
        #expect(server.local == client.remote)
        #expect(server.remote == client.local)
        #expect(server.local != server.remote)
        #expect(server.local.key.count == 16)
        #expect(server.local.salt.count == profile.saltCount)
        #expect(link.largestDatagram <= 1200)
        #expect(link.server.nextTimeout(now: now()) == nil)
    }

    @Test("a client has the keys a flight before the server, and still waits for the server's last word")
    func clientIsFirst() throws {
        let context = try makeContext(firstRetransmission: .seconds(15))
        let link = try SimulatedLink(serverContext: context, clientContext: context)
        let (client, server) = (link.client, link.server)
        try client.start(now: now())
        for datagram in client.takeOutgoing() { try server.handle(datagram: datagram[...], now: now()) }
        for datagram in server.takeOutgoing() { try client.handle(datagram: datagram[...], now: now()) }
        let keys = try #require(client.keys)
        #expect(!client.isComplete)
        #expect(client.nextTimeout(now: now()) != nil)
        for datagram in client.takeOutgoing() { try server.handle(datagram: datagram[...], now: now()) }
        #expect(server.keys?.remote == keys.local)
        #expect(server.isComplete)
        for datagram in server.takeOutgoing() { try client.handle(datagram: datagram[...], now: now()) }
        #expect(client.isComplete)
        #expect(client.keys == keys)
        #expect(client.nextTimeout(now: now()) == nil)
    }

    @Test("a ClientHello that is sent again does not spoil the flight that leaves with it")
    func repeatedHello() throws {
        let link = try SimulatedLink(
            serverContext: makeContext(firstRetransmission: .seconds(15)),
            clientContext: makeContext(firstRetransmission: .milliseconds(50)))
        let (client, server) = (link.client, link.server)
        try client.start(now: now())
        for datagram in client.takeOutgoing() { try server.handle(datagram: datagram[...], now: now()) }
        try eventually("the client's timeout", within: .seconds(90)) { client.nextTimeout(now: now())! <= now() }
        for datagram in server.takeOutgoing() { try client.handle(datagram: datagram[...], now: now()) }
        for datagram in client.takeOutgoing() { try server.handle(datagram: datagram[...], now: now()) }
        #expect(server.isComplete)
    }

    @Test("a server whose last flight was lost sends it again, and then closes or is closed", arguments: [true, false])
    func repeatsLastFlight(serverCloses: Bool) throws {
        let link = try SimulatedLink(
            serverContext: makeContext(), clientContext: makeContext(firstRetransmission: .milliseconds(50)))
        let (client, server) = (link.client, link.server)
        try client.start(now: now())
        try eventually("the server's last flight", within: .seconds(90)) {
            if let due = client.nextTimeout(now: now()), due <= now() { try client.handleTimeout(now: now()) }
            for datagram in client.takeOutgoing() { try server.handle(datagram: datagram[...], now: now()) }
            let isComplete = server.isComplete
            let flight = isComplete ? [] : server.takeOutgoing()
            for datagram in flight { try client.handle(datagram: datagram[...], now: now()) }
            return isComplete
        }
        #expect(!server.takeOutgoing().isEmpty && !client.isComplete)
        try link.shakeHands()
        #expect(client.isComplete && client.keys?.local == server.keys?.remote)
        (serverCloses ? server : client).close()
        link.settle()
        #expect(client.state == .closed && server.state == .closed)
    }

    @Test("a server sends its last flight again, byte for byte, for each of the client's repetitions, and for no copy")
    func sameLastFlight() throws {
        let link = try SimulatedLink(
            serverContext: makeContext(firstRetransmission: .seconds(15)),
            clientContext: makeContext(firstRetransmission: .milliseconds(50)))
        let (client, server) = (link.client, link.server)
        try client.start(now: now())
        for datagram in client.takeOutgoing() { try server.handle(datagram: datagram[...], now: now()) }
        for datagram in server.takeOutgoing() { try client.handle(datagram: datagram[...], now: now()) }
        for datagram in client.takeOutgoing() { try server.handle(datagram: datagram[...], now: now()) }
        try #require(server.isComplete)
        let flight = server.takeOutgoing()
        for _ in 0..<3 {
            let repeated = try repetition(of: client)
            for datagram in repeated { try server.handle(datagram: datagram[...], now: now()) }
            #expect(server.takeOutgoing() == flight)
            for datagram in repeated { try server.handle(datagram: datagram[...], now: now()) }
            #expect(server.takeOutgoing().isEmpty)
        }
        for datagram in flight { try client.handle(datagram: datagram[...], now: now()) }
        #expect(client.isComplete)
    }

    @Test("a server sends no more than its last flight again, whatever OpenSSL sent before and after it")
    func onlyLastFlight() throws {
        let context = try makeContext(firstRetransmission: .milliseconds(50))
        let link = try SimulatedLink(serverContext: context, clientContext: context)
        let (client, server) = (link.client, link.server)
        try client.start(now: now())
        for datagram in client.takeOutgoing() { try server.handle(datagram: datagram[...], now: now()) }
        for datagram in server.takeOutgoing() { try client.handle(datagram: datagram[...], now: now()) }
        _ = client.takeOutgoing()
        let finished = try repetition(of: client) + repetition(of: client)
        try eventually("the server's timeout") { server.nextTimeout(now: now())! <= now() }
        try server.handle(datagram: Array(finished.joined())[...], now: now())
        try #require(server.isComplete)
        #expect(server.takeOutgoing().joined().count > 14 + 61, "the previous flight again, and the last one twice")
        for datagram in try repetition(of: client) { try server.handle(datagram: datagram[...], now: now()) }
        #expect(server.takeOutgoing().map(\.count) == [14 + 61], "a ChangeCipherSpec and a Finished")
    }

    /// The flight that `side` sends again once its timer has run out.
    private func repetition(of side: DTLSTransport) throws -> [[UInt8]] {
        try eventually("the repeated flight") { () -> [[UInt8]]? in
            try side.handleTimeout(now: now())
            let sent = side.takeOutgoing()
            return sent.isEmpty ? nil : sent
        }
    }

    @Test("a client that has keys but never hears the server's last word gives up")
    func lastWordMissing() throws {
        let context = try makeContext(firstRetransmission: .seconds(15))
        let link = try SimulatedLink(serverContext: context, clientContext: context)
        let start = now()
        try link.client.start(now: start)
        for datagram in link.client.takeOutgoing() { try link.server.handle(datagram: datagram[...], now: start) }
        for datagram in link.server.takeOutgoing() { try link.client.handle(datagram: datagram[...], now: start) }
        #expect(link.client.keys != nil)
        #expect(throws: SecureTransportError.handshakeTimedOut(seconds: 20)) {
            try link.client.handleTimeout(now: start + .seconds(20))
        }
        #expect(link.client.keys == nil)
    }

    @Test("GCM is chosen when both have it")
    func prefersGCM() throws {
        let link = try SimulatedLink(
            serverContext: makeContext(), clientContext: makeContext(profiles: [.aes128CMHMACSHA1, .aeadAES128GCM]))
        try link.shakeHands()
        #expect(link.server.keys?.profile == .aeadAES128GCM)
    }

    @Test("a handshake succeeds over a path that loses, repeats and reorders", arguments: [10, 20, 30])
    func survivesLoss(percent: Int) throws {
        let (serverContext, clientContext) = (try makeContext(), try makeContext())
        for seed in 0..<5 {
            let link = try SimulatedLink(
                serverContext: serverContext, clientContext: clientContext, lossPercent: percent,
                seed: UInt64(percent * 1000 + seed))
            try link.shakeHands()
            let keys = try #require(link.server.keys, "seed \(seed): \(link.server.state)")
            #expect(keys.local == link.client.keys?.remote, "seed \(seed): \(link.client.state)")
        }
    }

    @Test("a small MTU divides the messages into datagrams that fit")
    func smallMTU() throws {
        let link = try SimulatedLink(serverContext: makeContext(), clientContext: makeContext(), mtu: 300)
        try link.shakeHands()
        #expect(link.server.keys != nil)
        #expect(link.largestDatagram <= 300)
    }

    @Test("a server whose client has another certificate than promised hands out no keys")
    func serverChecksFingerprint() throws {
        let link = try SimulatedLink(
            serverContext: makeContext(), clientContext: makeContext(), serverExpects: Certificate().fingerprint)
        try link.shakeHands()
        #expect(link.server.state == .failed(.fingerprintMismatch(algorithm: "sha-256")))
        link.settle()
        #expect(link.client.state == .closed)
    }

    @Test("a client whose server has another certificate than promised hands out no keys")
    func clientChecksFingerprint() throws {
        let wrong = try CertificateFingerprint(algorithm: .sha512, bytes: [UInt8](repeating: 7, count: 64))
        let link = try SimulatedLink(
            serverContext: makeContext(), clientContext: makeContext(), clientExpects: wrong)
        try link.shakeHands()
        #expect(link.client.state == .failed(.fingerprintMismatch(algorithm: "sha-512")))
    }

    @Test("sides without a common SRTP profile hand out no keys")
    func needsCommonProfile() throws {
        let link = try SimulatedLink(
            serverContext: makeContext(profiles: [.aeadAES128GCM]),
            clientContext: makeContext(profiles: [.aes128CMHMACSHA1]))
        try link.shakeHands()
        #expect(link.server.state == .failed(.noSRTPProfile))
        #expect(link.client.keys == nil)
    }

    @Test("the end that one side declares reaches the other", arguments: [true, false])
    func closes(serverFirst: Bool) throws {
        let link = try SimulatedLink(serverContext: makeContext(), clientContext: makeContext())
        try link.shakeHands()
        let (first, second) = serverFirst ? (link.server, link.client) : (link.client, link.server)
        first.close()
        first.close()
        #expect(first.state == .closed)
        link.settle()
        #expect(second.state == .closed)
        try second.handle(datagram: [22, 1, 2, 3], now: now())
        #expect(second.takeOutgoing().isEmpty)
    }

    @Test("a session closed before it stood is closed and says nothing")
    func closesEarly() throws {
        let link = try SimulatedLink(serverContext: makeContext(), clientContext: makeContext())
        link.server.close()
        #expect(link.server.state == .closed)
        #expect(link.server.takeOutgoing().isEmpty)
    }

    @Test("a handshake without an answer is given up after its time, which starts with it")
    func timesOut() throws {
        let link = try SimulatedLink(serverContext: makeContext(), clientContext: makeContext())
        #expect(link.server.nextTimeout(now: now()) == nil)
        let start = now()
        try link.client.start(now: start)
        #expect(link.client.takeOutgoing().count == 1)
        let due = try #require(link.client.nextTimeout(now: start))
        #expect(due <= start + .milliseconds(25))
        try link.client.handleTimeout(now: start + .seconds(19))
        #expect(throws: SecureTransportError.handshakeTimedOut(seconds: 20)) {
            try link.client.handleTimeout(now: start + .seconds(20))
        }
        #expect(link.client.state == .failed(.handshakeTimedOut(seconds: 20)))
        #expect(link.client.nextTimeout(now: start) == nil)
    }

    @Test("an unanswered flight is sent again")
    func retransmits() throws {
        let link = try SimulatedLink(serverContext: makeContext(), clientContext: makeContext())
        try link.client.start(now: now())
        let first = try #require(link.client.takeOutgoing().first)
        let again = try eventually("the repetition") { () -> [UInt8]? in
            try link.client.handleTimeout(now: now())
            return link.client.takeOutgoing().first
        }
        // The record's sequence number is new, the message is the same.
        #expect(again != first)
        #expect(again.dropFirst(13) == first.dropFirst(13))
    }
}
