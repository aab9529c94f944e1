import MediaTypes
import SecureTransport
import TestSupport
import Testing

@Suite("What a DTLS session makes of odd datagrams")
struct DTLSInputTests {
    @Test("a ClientHello that comes in two datagrams is put together", arguments: [false, true])
    func fragmentedClientHello(reversed: Bool) throws {
        let link = try SimulatedLink(serverContext: makeContext(), clientContext: makeContext())
        try link.client.start(now: now())
        let hello = try #require(link.client.takeOutgoing().first)
        var parts = fragments(of: hello, at: 90)
        if reversed { parts.reverse() }
        try link.server.handle(datagram: parts[0][...], now: now())
        #expect(link.server.takeOutgoing().isEmpty)
        try link.server.handle(datagram: parts[1][...], now: now())
        try link.shakeHands()
        #expect(link.server.keys != nil)
        #expect(link.server.keys?.local == link.client.keys?.remote)
    }

    /// A handshake message alone in its record, as two fragments in two records.
    private func fragments(of record: [UInt8], at offset: Int) -> [[UInt8]] {
        let header = record[13..<25]
        let body = record.dropFirst(25)
        func part(_ bytes: ArraySlice<UInt8>, offset: Int, number: UInt8) -> [UInt8] {
            var result = Array(record.prefix(10)) + [number]
            let count = bytes.count + 12
            result += [UInt8(count >> 8), UInt8(count & 255)]
            result += header.prefix(6) + [0, UInt8(offset >> 8), UInt8(offset & 255)]
            return result + [0, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
        }
        // The client counts its further records from 1, so the second fragment takes a number that it won't use.
        return [
            part(body.prefix(offset), offset: 0, number: 0),
            part(body.dropFirst(offset), offset: offset, number: 40),
        ]
    }

    @Test("garbage, broken headers and cut-off records don't disturb a handshake or a session that stands")
    func ignoresGarbage() throws {
        let link = try SimulatedLink(serverContext: makeContext(), clientContext: makeContext())
        try link.client.start(now: now())
        let hello = try #require(link.client.takeOutgoing().first)
        var random = SeededRandom(seed: 3)
        func annoy(_ side: DTLSTransport) throws {
            try side.handle(datagram: [], now: now())
            for count in 1..<hello.count { try side.handle(datagram: hello.prefix(count), now: now()) }
            for _ in 0..<300 {
                var noise = (0..<Int.random(in: 1...60, using: &random)).map { _ in
                    UInt8.random(in: .min ... .max, using: &random)
                }
                try side.handle(datagram: noise[...], now: now())
                // The same with a header that looks right.
                noise = [20 + noise[0] % 4, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, UInt8(noise.count)] + noise
                try side.handle(datagram: noise[...], now: now())
                noise[4] = 1
                try side.handle(datagram: noise[...], now: now())
            }
            try side.handle(datagram: [UInt8](repeating: 22, count: 70_000)[...], now: now())
        }
        try annoy(link.server)
        #expect(link.server.state == .handshaking)
        try link.server.handle(datagram: hello[...], now: now())
        try annoy(link.server)
        try link.shakeHands()
        #expect(link.server.keys != nil, "\(link.server.state)")
        #expect(link.client.keys != nil, "\(link.client.state)")
        try annoy(link.server)
        try annoy(link.client)
        #expect(link.server.keys != nil)
        #expect(link.client.keys != nil)
    }

    @Test(
        "an encrypted record of any length that does not authenticate is dropped, and nobody is told",
        arguments: 20...23)
    func unauthenticatedRecord(type: UInt8) throws {
        for isConnected in [false, true] {
            for count in 0...80 {
                let link = try SimulatedLink(serverContext: makeContext(), clientContext: makeContext())
                if isConnected { try link.shakeHands() } else { try link.client.start(now: now()) }
                let record: [UInt8] =
                    [type, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 1, 0, 0, UInt8(count)] + [UInt8](repeating: 7, count: count)
                for side in [link.server, link.client] {
                    try side.handle(datagram: record[...], now: now())
                    if isConnected { #expect(side.takeOutgoing().isEmpty, "\(count) bytes") }
                }
                try link.shakeHands()
                #expect(link.server.keys != nil && link.client.keys != nil, "\(count) bytes: \(link.server.state)")
            }
        }
    }

    @Test("changed datagrams never crash a session and never give the two sides different keys")
    func survivesMutations() throws {
        let (serverContext, clientContext) = (try makeContext(), try makeContext())
        var random = SeededRandom(seed: 11)
        var connected = 0
        for _ in 0..<30 {
            let link = try SimulatedLink(serverContext: serverContext, clientContext: clientContext)
            try link.client.start(now: now())
            for _ in 0..<6 {
                for (from, to) in [(link.client, link.server), (link.server, link.client)] {
                    for datagram in from.takeOutgoing() {
                        let changed = Bool.random(using: &random) ? random.mutation(of: datagram) : datagram
                        try? to.handle(datagram: changed[...], now: now())
                    }
                }
            }
            if let server = link.server.keys, let client = link.client.keys {
                connected += 1
                #expect(server.local == client.remote)
            }
        }
        #expect(connected < 30)
    }

    @Test("the handshake's datagrams may be sent again at any later time")
    func ignoresOldHandshake() throws {
        let (server, client) = try recordedHandshake()
        for datagram in client.sent { try server.transport.handle(datagram: datagram[...], now: now()) }
        for datagram in server.sent { try client.transport.handle(datagram: datagram[...], now: now()) }
        #expect(server.transport.keys != nil)
        #expect(client.transport.keys != nil)
    }

    private func recordedHandshake() throws -> (
        (transport: DTLSTransport, sent: [[UInt8]]), (transport: DTLSTransport, sent: [[UInt8]])
    ) {
        let link = try SimulatedLink(serverContext: makeContext(), clientContext: makeContext())
        var (fromServer, fromClient): ([[UInt8]], [[UInt8]]) = ([], [])
        try link.client.start(now: now())
        try eventually("the end of the handshake") {
            // A flight that a slow machine answers too late is waited for, and sent again.
            for side in [link.server, link.client] { try side.handleTimeout(now: now()) }
            let (up, down) = (link.client.takeOutgoing(), link.server.takeOutgoing())
            for datagram in up { try link.server.handle(datagram: datagram[...], now: now()) }
            for datagram in down { try link.client.handle(datagram: datagram[...], now: now()) }
            fromClient += up
            fromServer += down
            return link.server.keys != nil && link.client.keys != nil
        }
        return ((link.server, fromServer), (link.client, fromClient))
    }

    @Test("a peer that sends fragments without end is given up")
    func boundsHandshakeData() throws {
        let link = try SimulatedLink(serverContext: makeContext(), clientContext: makeContext())
        try link.client.start(now: now())
        let hello = try #require(link.client.takeOutgoing().first)
        // A fragment of message 1 that never becomes whole: 1 of 1000 bytes.
        let fragment: [UInt8] =
            [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0x03, 0xF3, 11, 0, 3, 232, 0, 1, 0, 0, 0, 0, 3, 231]
            + [UInt8](repeating: 0, count: 999)
        try link.server.handle(datagram: hello[...], now: now())
        var thrown: SecureTransportError?
        for number in 0..<400 where thrown == nil {
            var datagram = fragment
            datagram[9] = UInt8(number >> 8)
            datagram[10] = UInt8(number & 255)
            do throws(SecureTransportError) {
                try link.server.handle(datagram: datagram[...], now: now())
            } catch {
                thrown = error
            }
        }
        #expect(thrown == .tooMuchHandshakeData(limit: 262_144))
        #expect(link.server.takeOutgoing().count <= 64)
    }
}
