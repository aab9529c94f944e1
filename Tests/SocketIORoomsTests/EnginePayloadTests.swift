import SocketIORooms
import TestSupport
import Testing

@Suite("Engine.IO packets and payloads")
struct EnginePayloadTests {
    /// What clients and servers of each version send, and what it says.
    static let vectors: [(version: EngineVersion, bytes: [UInt8], packets: [EnginePacket])] = [
        (.three, Array("2:40".utf8), [EnginePacket(.message, "0")]),
        (
            .three, Array("11:42[\"a\",\"b\"]1:2".utf8),
            [EnginePacket(.message, "2[\"a\",\"b\"]"), EnginePacket(.ping)]
        ),
        // Lengths count UTF-16 code units: 你好 are two, 😀 is two as well.
        (.three, Array("3:4你好6:2probe".utf8), [EnginePacket(.message, "你好"), EnginePacket(.ping, "probe")]),
        (.three, Array("3:4😀1:6".utf8), [EnginePacket(.message, "😀"), EnginePacket(.noop)]),
        // As python-engineio 3 sends: lengths in bytes, a digit a byte.
        (
            .three, [0, 1, 0, 0xFF] + Array("42[\"hello\"]".utf8.prefix(10)) + [0, 1, 0xFF, 0x32],
            [EnginePacket(.message, "2[\"hello\""), EnginePacket(.ping)]
        ),
        // A binary packet beside text is passed over, in each of its forms.
        (.three, [1, 3, 0xFF, 4, 1, 2, 0, 1, 0xFF, 0x33], [EnginePacket(.pong)]),
        (.three, Array("6:b4AQID1:2".utf8), [EnginePacket(.ping)]),
        (.four, Array("40".utf8), [EnginePacket(.message, "0")]),
        (
            .four, Array("4hello\u{1E}2\u{1E}4world".utf8),
            [EnginePacket(.message, "hello"), EnginePacket(.ping), EnginePacket(.message, "world")]
        ),
        (.four, Array("4hello\u{1E}bAQIDBA==".utf8), [EnginePacket(.message, "hello")]),
        (.four, Array("4你好😀".utf8), [EnginePacket(.message, "你好😀")]),
    ]

    @Test("payloads as clients send them are read", arguments: 0..<vectors.count)
    func reading(index: Int) throws {
        let vector = Self.vectors[index]
        #expect(try EnginePayload.decode(vector.bytes, vector.version) == vector.packets)
    }

    @Test("a packet's text begins behind the byte that says what it is, whatever character that byte is part of")
    func combiningMark() throws {
        let packet = try #require(EnginePacket(parsing: "4\u{301}x"))
        #expect(packet == EnginePacket(.message, "\u{301}x"))
        #expect(EnginePacket(parsing: packet.encoded) == packet)
    }

    @Test(
        "what isn't a payload is refused",
        arguments: [
            (EngineVersion.three, ""), (.three, "40"), (.three, ":40"), (.three, "3:40"), (.three, "2:402"),
            (.three, "x:40"), (.three, "-1:4"), (.three, "999999999:4"), (.three, "0:"), (.three, "1:9"),
            (.three, "2:4😀"),
            (.four, ""), (.four, "\u{1E}"), (.four, "40\u{1E}"), (.four, "x"), (.four, "7"), (.four, "40\u{1E}\u{1E}2"),
        ])
    func malformed(version: EngineVersion, text: String) {
        #expect(throws: SocketIORoomsError.self) { try EnginePayload.decode(Array(text.utf8), version) }
    }

    @Test("text that isn't UTF-8 is refused", arguments: [EngineVersion.three, .four])
    func notText(version: EngineVersion) {
        let front = version == .three ? Array("2:4".utf8) : [0x34]
        for bytes: [UInt8] in [[0xFF], [0xC0], [0x80], [0xE4, 0xBD], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]] {
            #expect(throws: SocketIORoomsError.self) { try EnginePayload.decode(front + bytes, version) }
        }
    }

    @Test("limits are looked at before anything is read")
    func limits() {
        var limits = EnginePayload.Limits()
        limits.bytes = 10
        limits.packets = 2
        #expect(throws: SocketIORoomsError.tooLarge(bytes: 11, limit: 10)) {
            try EnginePayload.decode(Array("4aaaaaaaaaa".utf8), .four, limits: limits)
        }
        #expect(throws: SocketIORoomsError.tooManyPackets(limit: 2)) {
            try EnginePayload.decode(Array("2\u{1E}2\u{1E}2".utf8), .four, limits: limits)
        }
        // Those passed over count as well.
        #expect(throws: SocketIORoomsError.tooManyPackets(limit: 2)) {
            try EnginePayload.decode(Array("b\u{1E}b\u{1E}b".utf8), .four, limits: limits)
        }
        #expect(throws: SocketIORoomsError.tooManyPackets(limit: 2)) {
            try EnginePayload.decode(Array("1:21:21:2".utf8), .three, limits: limits)
        }
    }

    @Test("a beginning of a payload is refused or says a beginning of it", arguments: 0..<vectors.count)
    func prefixes(index: Int) {
        let vector = Self.vectors[index]
        for count in 0..<vector.bytes.count {
            guard let packets = try? EnginePayload.decode(Array(vector.bytes.prefix(count)), vector.version) else {
                continue
            }
            #expect(packets.count <= vector.packets.count)
            #expect(packets.dropLast() == vector.packets.prefix(max(0, packets.count - 1)))
        }
    }

    @Test("mutated payloads never trap", arguments: 0..<vectors.count)
    func mutations(index: Int) {
        var random = SeededRandom(seed: UInt64(index))
        for _ in 0..<500 {
            let bytes = random.mutation(of: Self.vectors[index].bytes)
            for version in [EngineVersion.three, .four] {
                let packets = try? EnginePayload.decode(bytes, version)
                #expect((packets?.count ?? 0) <= bytes.count)
            }
        }
    }

    @Test(
        "what is written can be read, and version 3 bundles as its server does",
        arguments: [EngineVersion.three, .four])
    func writing(version: EngineVersion) throws {
        let greeting = EngineGreeting(
            session: "s1", version: version, mayUpgrade: true, pingInterval: 25000, pingTimeout: 5000,
            payloadLimit: 1_000_000)
        let packets = [greeting.packet, EnginePacket(.message, "0")]
        let text = EnginePayload.encode(packets, version)
        #expect(try EnginePayload.decode(Array(text.utf8), version) == packets)
        let fields = "\"sid\":\"s1\",\"upgrades\":[\"websocket\"],\"pingInterval\":25000,\"pingTimeout\":5000"
        switch version {
        case .three: #expect(text == "78:0{\(fields)}2:40")
        case .four: #expect(text == "0{\(fields),\"maxPayload\":1000000}\u{1E}40")
        }
    }

    @Test("on a WebSocket from the start there is nothing to go over to")
    func directGreeting() {
        let greeting = EngineGreeting(
            session: "s", version: .three, mayUpgrade: false, pingInterval: 1, pingTimeout: 2, payloadLimit: 3)
        #expect(greeting.packet.encoded == "0{\"sid\":\"s\",\"upgrades\":[],\"pingInterval\":1,\"pingTimeout\":2}")
    }

    @Test("a packet is a digit and text")
    func packets() {
        for kind in EnginePacket.Kind.allCases {
            #expect(EnginePacket(parsing: "\(kind.rawValue)text") == EnginePacket(kind, "text"))
            #expect(EnginePacket(parsing: EnginePacket(kind).encoded) == EnginePacket(kind))
        }
        for text in ["", "7", "a", "/", " 2", "😀"] { #expect(EnginePacket(parsing: text) == nil) }
    }

    @Test("whatever isn't version 4 is version 3", arguments: [nil, "3", "", "5", "4.0", "44"])
    func versions(parameter: String?) {
        #expect(EngineVersion(parameter: parameter) == .three)
        #expect(EngineVersion(parameter: "4") == .four)
    }
}
