import Rooms
import SocketIORooms
import TestSupport
import Testing

@Suite("socket.io packets")
struct SocketPacketTests {
    static let vectors: [(text: String, packet: SocketPacket)] = [
        ("0", SocketPacket(.connect)),
        ("0{\"token\":\"123\"}", SocketPacket(.connect, json: "{\"token\":\"123\"}")),
        ("0/admin,", SocketPacket(.connect, namespace: "/admin")),
        ("0/admin", SocketPacket(.connect, namespace: "/admin")),
        ("0/admin,{\"a\":1}", SocketPacket(.connect, namespace: "/admin", json: "{\"a\":1}")),
        ("1", SocketPacket(.disconnect)),
        ("2[\"join\",\"111111\"]", SocketPacket(.event, json: "[\"join\",\"111111\"]")),
        ("212[\"join\",\"r\"]", SocketPacket(.event, acknowledgement: 12, json: "[\"join\",\"r\"]")),
        ("2/admin,456[\"a\"]", SocketPacket(.event, namespace: "/admin", acknowledgement: 456, json: "[\"a\"]")),
        ("312[]", SocketPacket(.ack, acknowledgement: 12, json: "[]")),
        ("4{\"message\":\"no\"}", SocketPacket(.error, json: "{\"message\":\"no\"}")),
        (
            "4/x,\"Invalid namespace\"", SocketPacket(.error, namespace: "/x", json: "\"Invalid namespace\"")
        ),
    ]

    @Test("packets are read and written", arguments: 0..<vectors.count)
    func reading(index: Int) {
        let vector = Self.vectors[index]
        #expect(SocketPacket(parsing: vector.text) == vector.packet)
        #expect(SocketPacket(parsing: vector.packet.encoded) == vector.packet)
    }

    @Test("attachments are announced, and a namespace's query is none of its name")
    func tolerated() {
        #expect(
            SocketPacket(parsing: "51-[\"a\",{\"_placeholder\":true,\"num\":0}]")
                == SocketPacket(.binaryEvent, json: "[\"a\",{\"_placeholder\":true,\"num\":0}]"))
        #expect(
            SocketPacket(parsing: "61-/x,7[]")
                == SocketPacket(.binaryAck, namespace: "/x", acknowledgement: 7, json: "[]"))
        #expect(SocketPacket(parsing: "0/x?token=1,") == SocketPacket(.connect, namespace: "/x"))
        #expect(SocketPacket(parsing: "0/?token=1,") == SocketPacket(.connect))
    }

    @Test(
        "what isn't a packet is none",
        arguments: ["", "7", "x", "-", "5", "5[]", "5-[]", "61", "29999999999999999999[]"])
    func malformed(text: String) {
        #expect(SocketPacket(parsing: text) == nil)
    }

    @Test("mutated packets never trap", arguments: 0..<vectors.count)
    func mutations(index: Int) {
        var random = SeededRandom(seed: UInt64(index))
        for _ in 0..<500 {
            let bytes = random.mutation(of: Array(Self.vectors[index].text.utf8))
            guard let text = String(validating: bytes, as: UTF8.self), let packet = SocketPacket(parsing: text) else {
                continue
            }
            #expect(SocketPacket(parsing: packet.encoded) != nil || packet.kind.rawValue >= 5)
        }
    }

    @Test("each version is welcomed, and turned away, in words that its clients can read")
    func connecting() {
        let member = MemberID("m1")
        #expect(SocketPacket.connected(.three, as: member).encoded == "0")
        #expect(SocketPacket.connected(.four, as: member).encoded == "0{\"sid\":\"m1\"}")
        #expect(SocketPacket.noSuchNamespace("/x", .three).encoded == "4/x,\"Invalid namespace\"")
        #expect(SocketPacket.noSuchNamespace("/x", .four).encoded == "4/x,{\"message\":\"Invalid namespace\"}")
        #expect(SocketPacket.acknowledging(12).encoded == "312[]")
    }

    @Test(
        "every notice has the room and whom it is about",
        arguments: zip(PairNotice.allCases, ["joined", "otherjoin", "full", "bye", "leaved"]))
    func notices(notice: PairNotice, name: String) {
        let message = PairMessage.notice(notice, about: MemberID("m1"))
        let packets = message.packets(room: "desk,token", alsoOtherJoined: false)
        #expect(packets.map(\.encoded) == ["2[\"\(name)\",\"desk,token\",\"m1\"]"])
        let more = message.packets(room: "desk,token", alsoOtherJoined: true)
        #expect(more.count == (notice == .otherJoined ? 2 : 1))
        if notice == .otherJoined { #expect(more.last?.encoded == "2[\"other_joined\",\"desk,token\",\"m1\"]") }
    }

    @Test("descriptions are objects, and all text is ASCII")
    func descriptions() {
        let offer = PairMessage.offer(sdp: "v=0\r\ns=\"é\\😀\u{1}\u{7F}\r\n")
        #expect(
            offer.packets(room: "r", alsoOtherJoined: true).map(\.encoded) == [
                "2[\"message\",\"r\",{\"type\":\"offer\",\"sdp\":\"v=0\\r\\ns=\\\"\\u00e9\\\\\\ud83d\\ude00\\u0001\\u007f\\r\\n\"}]"
            ])
        #expect(
            PairMessage.answer(sdp: "a").packets(room: "房间", alsoOtherJoined: false).map(\.encoded) == [
                "2[\"message\",\"\\u623f\\u95f4\",{\"type\":\"answer\",\"sdp\":\"a\"}]"
            ])
    }
}
