import MediaTypes
import Testing

@testable import Joining

/// A moment of these tests, in seconds.
func at(_ seconds: Int64) -> MonotonicTime { .zero + .seconds(seconds) }

/// A conversation that these tests hold.
final class Talk {
    private var conversation: any Conversation
    init(_ conversation: any Conversation) { self.conversation = conversation }

    func begin(at now: MonotonicTime) -> [Wish] { conversation.begin(at: now) }
    func take(_ text: String, at now: MonotonicTime) -> [Wish] { conversation.take(text, at: now) }
    func poll(at now: MonotonicTime) -> [Wish] { conversation.poll(at: now) }
    func offer(_ sdp: String, to member: String) -> String { conversation.offer(sdp, to: member) }
    func answer(_ sdp: String, to member: String) -> String { conversation.answer(sdp, to: member) }
    var farewell: [String] { conversation.farewell }
    var count: Int { conversation.calls.count }
    func answered(_ member: String, at now: MonotonicTime) { conversation.calls.answered(member, at: now) }
    func notAnswered(_ member: String) -> [Wish] { conversation.calls.notAnswered(member) }
    func lost(_ member: String, at now: MonotonicTime) { conversation.calls.lost(member, at: now) }
}

@Suite("A member of a SkyRTC server's room")
struct SkyRTCConversationTests {
    private let room = Talk(SkyRTCConversation(room: "desk,token"))

    private static func message(_ name: String, _ data: String) -> String {
        #"{"eventName":"\#(name)","data":\#(data)}"#
    }

    private static func description(_ type: String, from peer: String) -> String {
        message("_\(type)", #"{"socketId":"\#(peer)","sdp":{"type":"\#(type)","sdp":"v=0 \#(peer)"}}"#)
    }

    private func take(_ name: String, _ data: String, at second: Int64 = 0) -> [Wish] {
        room.take(Self.message(name, data), at: at(second))
    }

    @Test("the newcomer asks for its room, and offers to each member in the server's order")
    func joining() {
        #expect(room.begin(at: at(0)) == [.send(#"{"eventName":"__join","data":{"room":"desk,token"}}"#)])
        let wishes = take("_peers", #"{"connections":["b","a","me"],"you":"me"}"#)
        #expect(wishes == [.joined, .offer(to: "b"), .offer(to: "a")])
        #expect(
            room.offer("v=0", to: "b")
                == #"{"eventName":"__offer","data":{"sdp":{"type":"offer","sdp":"v=0"},"socketId":"b"}}"#)
        let answer = room.take(Self.description("answer", from: "a"), at: at(1))
        #expect(answer == [.accept("a", answer: "v=0 a")])
        #expect(room.count == 2)
        let again = take("_peers", #"{"connections":["b"],"you":"me"}"#)
        #expect(again.isEmpty)
    }

    @Test("a newcomer that isn't let in yet waits, and then offers as usual")
    func waiting() {
        _ = room.begin(at: at(0))
        #expect(take("_waiting", "{}") == [.waits])
        #expect(take("_peers", #"{"connections":["a"],"you":"me"}"#, at: 600) == [.joined, .offer(to: "a")])
        #expect(take("_waiting", "{}", at: 601).isEmpty)
    }

    @Test("somebody who comes later offers, and is offered to only if that doesn't come")
    func later() {
        _ = take("_peers", #"{"connections":[],"you":"me"}"#)
        #expect(take("_new_peer", #"{"socketId":"c"}"#).isEmpty)
        #expect(take("_new_peer", #"{"socketId":"d"}"#).isEmpty)
        let offered = room.take(Self.description("offer", from: "c"), at: at(1))
        #expect(offered == [.close("c"), .answer("c", offer: "v=0 c")])
        room.answered("c", at: at(1))
        #expect(room.poll(at: at(4)).isEmpty)
        #expect(room.poll(at: at(5)) == [.offer(to: "d")])
        #expect(room.poll(at: at(6)).isEmpty)
        // A late offer wins over ours, since it is the newcomer's turn.
        let late = room.take(Self.description("offer", from: "d"), at: at(7))
        #expect(late == [.close("d"), .answer("d", offer: "v=0 d")])
    }

    @Test("if both offer, ours wins where we came later")
    func glare() {
        _ = take("_peers", #"{"connections":["a"],"you":"me"}"#)
        #expect(room.take(Self.description("offer", from: "a"), at: at(1)).isEmpty)
        let answer = room.take(Self.description("answer", from: "a"), at: at(2))
        #expect(answer == [.accept("a", answer: "v=0 a")])
        let second = room.take(Self.description("answer", from: "a"), at: at(2))
        #expect(second.isEmpty)
        // Its page has begun anew without a new socket.
        let anew = room.take(Self.description("offer", from: "a"), at: at(3))
        #expect(anew == [.close("a"), .answer("a", offer: "v=0 a")])
    }

    @Test("an offer that can't be answered is answered by one of ours")
    func notAnswered() {
        _ = take("_peers", #"{"connections":[],"you":"me"}"#)
        _ = room.take(Self.description("offer", from: "c"), at: at(1))
        #expect(room.notAnswered("c") == [.offer(to: "c")])
    }

    @Test("a session that is lost is offered again, later each time, and not for ever")
    func lost() {
        _ = take("_peers", #"{"connections":["a"],"you":"me"}"#)
        var offers = 1
        var second: Int64 = 0
        for wait: Int64 in [2, 4, 8, 16] {
            room.lost("a", at: at(second))
            #expect(room.poll(at: at(second + wait - 1)).isEmpty)
            second += wait
            let wishes = room.poll(at: at(second))
            #expect(wishes == [.offer(to: "a")])
            offers += 1
        }
        room.lost("a", at: at(second))
        #expect(room.poll(at: at(second + 1000)).isEmpty)
        #expect(offers == 5)
    }

    @Test("who leaves is closed, and candidates go to those who are there")
    func leaving() {
        _ = take("_peers", #"{"connections":["a"],"you":"me"}"#)
        let line = #"{"socketId":"a","label":"0","candidate":"candidate:1 1 udp 1 192.0.2.1 9 typ host"}"#
        #expect(take("_ice_candidate", line) == [.candidate("a", "candidate:1 1 udp 1 192.0.2.1 9 typ host")])
        #expect(take("_remove_peer", #"{"socketId":"a"}"#) == [.close("a")])
        #expect(take("_remove_peer", #"{"socketId":"a"}"#).isEmpty)
        #expect(take("_ice_candidate", line).isEmpty)
        #expect(room.count == 0)
    }

    @Test(
        "what isn't understood changes nothing",
        arguments: [
            "", "{", "[]", "null", #"{"eventName":"_peers"#, #"{"eventName":7,"data":{}}"#,
            #"{"eventName":"_new_peer"}"#,
            #"{"eventName":"_new_peer","data":{"socketId":""}}"#, #"{"eventName":"_offer","data":{"socketId":"x"}}"#,
            #"{"eventName":"news","data":{"socketId":"x"}}"#, #"{"eventName":"_new_peer","data":{"socketId":"me"}}"#,
        ])
    func nonsense(_ text: String) {
        _ = take("_peers", #"{"connections":[],"you":"me"}"#)
        #expect(room.take(text, at: at(1)).isEmpty)
        #expect(room.count == 0)
    }

    @Test("a server can't make us call more than 64 members, or one with an endless name")
    func limits() {
        let many = (0..<100).map { "\"p\($0)\"" }.joined(separator: ",")
        let wishes = take("_peers", #"{"connections":[\#(many)],"you":"me"}"#)
        #expect(wishes.count == 65 && room.count == 64)
        #expect(room.take(Self.description("offer", from: "one more"), at: at(1)).isEmpty)
        _ = take("_remove_peer", #"{"socketId":"p1"}"#)
        let long = String(repeating: "x", count: 200)
        #expect(take("_new_peer", #"{"socketId":"\#(long)"}"#).isEmpty)
        #expect(room.count == 63)
    }
}
