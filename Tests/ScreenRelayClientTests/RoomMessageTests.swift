import MediaTypes
import Testing

@testable import RoomConnections

@Suite("What a room tells its clients")
struct RoomMessageTests {
    @Test("tracks and people are read, and what else comes is ignored")
    func messages() throws {
        let peers = try #require(
            RoomMessage(
                #"{"eventName":"_peers","data":{"connections":["h"],"you":"a","host":"h","resume":"secret","#
                    + #""tracks":[{"name":"screen","source":"live"},{"name":"b","source":"gone","data":{"x":[1]}}]}}"#))
        #expect(peers.eventName == "_peers" && peers.trackNames == ["screen", "b"])
        let people = try #require(
            RoomMessage(
                #"{"eventName":"_people","data":{"count":70,"members":[{"socketId":"a","name":"Ann"},"#
                    + #"{"socketId":"b","meeting":true}]}}"#))
        #expect(people.data?.count == 70 && people.data?.members?.map(\.name) == ["Ann", nil])
        #expect(people.trackNames.isEmpty)
        let refused = try #require(RoomMessage(#"{"eventName":"_refused","data":{"reason":"the room is full"}}"#))
        #expect(refused.data?.reason == "the room is full")
        #expect(RoomMessage(#"{"eventName":"_clock"}"#)?.data == nil)
        for text in ["", "{}", "[]", "7", #"{"eventName":7}"#, #"{"eventName":"_tracks","data":{"tracks":7}}"#] {
            #expect(RoomMessage(text) == nil, "\(text)")
        }
    }

    @Test("attempts follow one another after 0.5 s and more, up to 8 s, and soon again after a success")
    func pace() {
        var pace = RetryPace()
        for least in [500, 1000, 2000, 4000, 8000, 8000] {
            let wait = pace.next().milliseconds
            #expect((Int64(least)...Int64(least) + 250).contains(wait))
        }
        pace.reset()
        #expect(pace.next() < .seconds(1))
    }
}
