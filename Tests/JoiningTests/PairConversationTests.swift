import MediaTypes
import SocketIORooms
import Testing

@testable import Joining

@Suite("One side of a one-to-one room")
struct PairConversationTests {
    private static let greeting = #"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000"#
    private let room = Talk(PairConversation(room: "desk", .four))

    private func take(_ text: String, at second: Int64 = 0) -> [Wish] { room.take(text, at: at(second)) }

    private func enter() {
        _ = room.begin(at: at(0))
        _ = take(Self.greeting + #","maxPayload":1000000}"#)
        _ = take(#"40{"sid":"me"}"#)
        _ = take(#"42["joined","desk","me"]"#)
    }

    @Test("version 4 lets in who asks, and pings")
    func four() {
        #expect(room.begin(at: at(0)).isEmpty)
        #expect(take(Self.greeting + #","maxPayload":1000000}"#) == [.send("40")])
        #expect(take(#"40{"sid":"me"}"#) == [.send(#"42["join","desk"]"#)])
        #expect(take(#"42["joined","desk","me"]"#) == [.joined])
        #expect(take("2") == [.send("3")])
        #expect(room.poll(at: at(49)).isEmpty)
        #expect(room.poll(at: at(51)) == [.fail(.broken("the server is silent"))])
        #expect(room.farewell == [#"42["leave","desk"]"#])
    }

    @Test("version 4 that doesn't say what it takes is asked after a second")
    func olderFour() {
        _ = room.begin(at: at(0))
        #expect(take(Self.greeting + "}").isEmpty)
        #expect(room.poll(at: .zero + .milliseconds(900)).isEmpty)
        #expect(room.poll(at: at(1)) == [.send("40")])
        #expect(take(#"40{"sid":"me"}"#, at: 2) == [.send(#"42["join","desk"]"#)])
        #expect(room.poll(at: at(30)).isEmpty)
    }

    @Test("version 3 lets in unasked, and is pinged", arguments: [EngineVersion.three, .four])
    func three(asked: EngineVersion) {
        let room = Talk(PairConversation(room: "desk", asked))
        func take(_ text: String, at second: Int64 = 0) -> [Wish] { room.take(text, at: at(second)) }
        _ = room.begin(at: at(0))
        #expect(take(Self.greeting + "}").isEmpty)
        #expect(take("40") == [.send(#"42["join","desk"]"#)])
        #expect(room.poll(at: at(24)).isEmpty)
        #expect(room.poll(at: at(25)) == [.send("2")])
        #expect(take("3", at: 25).isEmpty)
        #expect(room.poll(at: at(50)) == [.send("2")])
    }

    @Test("who is there first offers, and again to the next one")
    func first() {
        enter()
        #expect(take(#"42["otherjoin","desk","x"]"#) == [.offer(to: "other")])
        #expect(take(#"42["other_joined","desk","x"]"#).isEmpty)
        #expect(room.offer("v=0\r\n", to: "other") == #"42["message","desk",{"type":"offer","sdp":"v=0\r\n"}]"#)
        let answer = take(#"42["message","desk",{"type":"answer","sdp":"v=0"}]"#)
        #expect(answer == [.accept("other", answer: "v=0")])
        let candidate = #"42["message","desk",{"type":"candidate","label":"0","id":"0","candidate":"candidate:1"}]"#
        #expect(take(candidate) == [.candidate("other", "candidate:1")])
        #expect(room.count == 1)
        #expect(take(#"42["bye","desk","x"]"#) == [.close("other")])
        #expect(room.count == 0)
        #expect(take(#"42["otherjoin","desk","y"]"#) == [.offer(to: "other")])
    }

    @Test("who comes second answers; an event that wants an acknowledgement gets one")
    func second() {
        enter()
        let wishes = take(#"4217["message","desk",{"type":"offer","sdp":"v=0"}]"#)
        #expect(wishes == [.send("4317[]"), .close("other"), .answer("other", offer: "v=0")])
        #expect(room.answer("v=0 a", to: "other") == #"42["message","desk",{"type":"answer","sdp":"v=0 a"}]"#)
    }

    @Test("a full room, and a server that ends it, are reasons to try again")
    func ends() {
        _ = room.begin(at: at(0))
        _ = take(Self.greeting + #","maxPayload":1000000}"#)
        #expect(take(#"44{"message":"no"}"#) == [.fail(.broken("the server refuses the connection"))])
        _ = take("40{}")
        #expect(take(#"42["message","desk",{"type":"offer","sdp":"v=0"}]"#).isEmpty, "not inside yet")
        #expect(take(#"42["full","desk","me"]"#) == [.fail(.full)])
        #expect(room.farewell.isEmpty)
        _ = take(#"42["joined","desk","me"]"#)
        #expect(take(#"42["leaved","desk","me"]"#) == [.fail(.broken("the server took us out of the room"))])
        #expect(take("41") == [.fail(.broken("the server has ended the session"))])
        #expect(take("1") == [.fail(.broken("the server has ended the session"))])
    }

    @Test(
        "what isn't understood changes nothing",
        arguments: [
            "42", "42[", "42[]", "42{}", "42[7]", #"42["message"]"#, #"42["message","desk"]"#,
            #"42["message","desk",{"type":"offer"}]"#, #"42["message","desk",{"type":"candidate"}]"#,
            #"42["news","desk",{}]"#, "42/x,[\"bye\",\"desk\"]", "451-[\"a\"]", "4", "6", "3",
        ])
    func nonsense(_ text: String) {
        enter()
        #expect(take(text).isEmpty)
    }

    @Test(
        "what isn't Engine.IO's is a reason to try again",
        arguments: ["", "hello", "9", "0", "0[]", #"0{"pingInterval":"soon"}"#])
    func notEngineIO(_ text: String) {
        _ = room.begin(at: at(0))
        let wishes = take(text)
        guard case .fail? = wishes.first else {
            Issue.record("\(wishes)")
            return
        }
    }

    @Test("times that a server says are kept within bounds", arguments: ["-1", "0", "1e300"])
    func times(_ time: String) {
        _ = room.begin(at: at(0))
        _ = take(#"0{"pingInterval":\#(time),"pingTimeout":\#(time),"maxPayload":1}"#)
        _ = take("40{}")
        #expect(room.poll(at: at(6)).isEmpty)
        #expect(room.poll(at: at(2000)) == [.fail(.broken("the server is silent"))])
    }
}
