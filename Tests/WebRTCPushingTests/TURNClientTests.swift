import MediaTypes
import STUN
import SecureTransport
import TestSupport
import Testing

@testable import WebRTCPushing

@Suite("A client of a TURN server over TCP")
struct TURNClientTests {
    private static let peers = [
        TransportAddress(ipv4: 192, 0, 2, 7, port: 4000), TransportAddress(ipv4: 198, 51, 100, 8, port: 5000),
    ]
    private static let start = MonotonicTime(nanoseconds: 7_000_000_000)

    /// A server after RFC 8656 that knows one user, and the client's datagrams as they came there.
    private struct Server {
        var nonce = "first"
        var refuses: (UInt16) -> Int? = { _ in nil }
        private(set) var methods: [UInt16] = []
        private(set) var channels: [UInt16: TransportAddress] = [:]
        private(set) var datagrams: [(channel: UInt16, bytes: [UInt8])] = []
        private(set) var hasEnded = false
        private let key = Authentication.md5(Array("user:realm:secret".utf8))

        /// Takes what the client sends; returns the answers.
        mutating func take(_ bytes: [UInt8]) throws -> [UInt8] {
            var (rest, answers) = (bytes[...], [UInt8]())
            while !rest.isEmpty {
                let length = Int(rest[rest.startIndex + 2]) << 8 | Int(rest[rest.startIndex + 3])
                let isChannel = rest[rest.startIndex] >> 6 == 1
                let whole = isChannel ? 4 + (length + 3) / 4 * 4 : 20 + length
                let message = Array(rest.prefix(whole))
                rest = rest.dropFirst(whole)
                if isChannel {
                    let channel = UInt16(message[0]) << 8 | UInt16(message[1])
                    datagrams.append((channel, Array(message[4..<4 + length])))
                } else {
                    answers += try answer(STUNMessage(parsing: message))
                }
            }
            return answers
        }

        private mutating func answer(_ request: STUNMessage) -> [UInt8] {
            func values(_ type: UInt16) -> [UInt8]? {
                for case .other(type, let value) in request.attributes { return value }
                return nil
            }
            func error(_ code: Int) -> [UInt8] {
                STUNMessage.encode(
                    .error, method: request.method, transactionID: request.transactionID,
                    attributes: [
                        .errorCode(code, reason: ""), .other(type: 0x14, value: Array("realm".utf8)),
                        .other(type: 0x15, value: Array(nonce.utf8)),
                    ], key: nil, hmac: Authentication.hmacSHA1)
            }
            methods.append(request.method.rawValue)
            guard request.hasIntegrity else { return error(401) }
            guard request.username == "user", request.hasValidIntegrity(key: key, hmac: Authentication.hmacSHA1) else {
                return error(401)
            }
            guard values(0x15) == Array(nonce.utf8) else { return error(438) }
            if let code = refuses(request.method.rawValue) { return error(code) }
            if request.method == .channelBind, let channel = values(0x0c), let peer = values(0x12) {
                let mask: [UInt8] = [0x21, 0x12, 0xA4, 0x42]
                let port = (UInt16(peer[2]) << 8 | UInt16(peer[3])) ^ 0x2112
                let address = zip(peer.dropFirst(4), mask).map { $0 ^ $1 }
                channels[UInt16(channel[0]) << 8 | UInt16(channel[1])] = TransportAddress(bytes: address, port: port)
            }
            if request.method == .refresh, request.lifetime == 0 { hasEnded = true }
            return STUNMessage.encode(
                .success, method: request.method, transactionID: request.transactionID, attributes: [.lifetime(600)],
                key: key, hmac: Authentication.hmacSHA1)
        }
    }

    private func client(password: String = "secret") -> TURNClient {
        TURNClient(user: "user", password: password, peers: Self.peers, now: Self.start)
    }

    /// Lets both speak until neither has anything to say.
    private func talk(
        _ client: inout TURNClient, _ server: inout Server, at now: MonotonicTime = start, inPieces size: Int = 1000
    ) throws {
        while case let sent = client.takeOutgoing(), !sent.isEmpty {
            let answers = try server.take(sent)
            for start in stride(from: 0, to: answers.count, by: size) {
                try client.take(answers[start..<min(start + size, answers.count)], now: now) { _, _ in }
            }
        }
    }

    @Test("it shows its credentials when asked, and has a channel for each peer", arguments: [1, 7, 1000])
    func channels(size: Int) throws {
        var (client, server) = (client(), Server())
        #expect(!client.isReady)
        try talk(&client, &server, inPieces: size)
        #expect(client.isReady && client.bound == [0, 1])
        #expect(server.methods == [3, 3, 9, 9])
        #expect(server.channels == [0x4000: Self.peers[0], 0x4001: Self.peers[1]])
    }

    @Test("datagrams of any length go both ways, to and from their peers", arguments: [0, 1, 3, 4, 1200])
    func datagrams(count: Int) throws {
        var (client, server) = (client(), Server())
        client.send([1, 2, 3], to: 0)
        try talk(&client, &server)
        let datagram = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        client.send(datagram[...], to: 1)
        client.send(datagram[...], to: 2)
        client.send([UInt8](repeating: 1, count: 2049)[...], to: 1)
        try talk(&client, &server)
        #expect(server.datagrams.map(\.channel) == [0x4001] && server.datagrams.map(\.bytes) == [datagram])

        var received: [(bytes: [UInt8], peer: Int)] = []
        let head: [UInt8] = [0x40, 0, UInt8(count >> 8), UInt8(count & 0xFF)]
        let stream = head + datagram + [UInt8](repeating: 0, count: -count & 3)
        // The other channel isn't ours.
        let other: [UInt8] = [0x40, 9, 0, 4, 1, 2, 3, 4]
        for byte in stream + other + stream {
            try client.take([byte], now: Self.start) { received.append((Array($0), $1)) }
        }
        #expect(received.map(\.bytes) == [datagram, datagram] && received.map(\.peer) == [0, 0])
    }

    @Test("what would expire is renewed, also with a nonce that has become old, and given back at the end")
    func renewal() throws {
        var (client, server) = (client(), Server())
        try talk(&client, &server)
        #expect(client.deadline == Self.start + .seconds(240))
        try client.poll(now: Self.start + .seconds(239))
        #expect(client.takeOutgoing().isEmpty)
        server.nonce = "second"
        let later = Self.start + .seconds(240)
        try client.poll(now: later)
        try talk(&client, &server, at: later)
        #expect(server.methods.dropFirst(4).sorted() == [4, 4, 9, 9, 9, 9])
        #expect(client.isReady && client.deadline == later + .seconds(240) && !server.hasEnded)
        client.end()
        try talk(&client, &server, at: later)
        #expect(server.hasEnded)
    }

    @Test("a server that refuses, or doesn't answer in time, is given up; one that refuses some peers isn't")
    func refusals() throws {
        var (wrong, server) = (client(password: "wrong"), Server())
        #expect(throws: TURNClient.TURNError("the TURN server refuses (401)")) { try talk(&wrong, &server) }
        for method in [3, 9] as [UInt16] {
            var (client, server) = (client(), Server())
            server.refuses = { $0 == method ? 403 : nil }
            #expect(throws: TURNClient.TURNError("the TURN server refuses (403)")) { try talk(&client, &server) }
        }
        var (some, choosy) = (client(), Server())
        var binds = 0
        choosy.refuses = { method in
            if method == 9 { binds += 1 }
            return method == 9 && binds == 1 ? 403 : nil
        }
        try talk(&some, &choosy)
        #expect(some.isReady && some.bound.count == 1)
        var silent = client()
        _ = silent.takeOutgoing()
        #expect(silent.deadline == Self.start + .seconds(5))
        #expect(throws: TURNClient.TURNError("the TURN server doesn't answer")) {
            try silent.poll(now: Self.start + .seconds(5))
        }
    }

    @Test("whatever a server sends is taken or refused, and is never kept beyond one message")
    func hostile() throws {
        var (honest, server) = (client(), Server())
        let first = try server.take(honest.takeOutgoing())
        try honest.take(first[...], now: Self.start) { _, _ in }
        let second = try server.take(honest.takeOutgoing())
        try honest.take(second[...], now: Self.start) { _, _ in }
        let third = try server.take(honest.takeOutgoing())
        try honest.take(third[...], now: Self.start) { _, _ in }
        let channel: [UInt8] = [0x40, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0]
        var random = SeededRandom(seed: 8656)
        for _ in 0..<3000 {
            var client = honest
            let bytes = random.mutation(of: first + second + third + channel)
            try? client.take(bytes[...], now: Self.start) { datagram, peer in
                #expect(datagram.count <= 2048 && Self.peers.indices.contains(peer))
            }
            client.send([1], to: 1)
        }
        for (bytes, reason) in [
            ([0x40, 0, 0xFF, 0xFF] as [UInt8], "too long a datagram"), ([0x80, 0, 0, 0], "something else than TURN"),
            (Array("HTTP".utf8), "too long a datagram"), ([0, 1, 0xFF, 0xFC], "something else than TURN"),
        ] {
            var client = client()
            let failure = #expect(throws: TURNClient.TURNError.self) {
                try client.take(bytes[...], now: Self.start) { _, _ in }
            }
            #expect(failure?.reason == "the TURN server sends \(reason)")
        }
    }
}
