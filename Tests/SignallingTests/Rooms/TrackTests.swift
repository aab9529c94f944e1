import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Several tracks in a room")
struct TrackTests {
    private func names(_ data: [String: Any]) -> [String] {
        (data["tracks"] as? [[String: String]] ?? []).map { "\($0["name"] ?? "?") \($0["source"] ?? "?")" }
    }

    @Test("viewers hear of tracks that come and go, and get an answer for each that they offer for")
    func twoTracks() throws {
        let server = try RunningServer()
        let other = FakeMedia()
        let client = try WebSocketClient(port: server.port)
        try client.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"}")
        let peers = try client.next(event: "_peers")
        let host = try #require(peers["host"] as? String)
        #expect(names(peers) == ["screen waiting"])
        #expect(try client.next(event: "_state")["track"] == nil)
        try client.send(offer: "first", to: host)
        #expect(try client.next(event: "_answer")["track"] == nil)

        server.server.addTrack("desk2", media: other, room: "desk")
        #expect(names(try client.next(event: "_tracks")) == ["screen waiting", "desk2 waiting"])
        server.server.announce(.live, room: "desk", track: "desk2")
        let state = try client.next(event: "_state")
        #expect(state["track"] as? String == "desk2" && state["source"] as? String == "live")
        server.server.announce(.live, room: "desk")
        #expect(try client.next(event: "_state")["track"] as? String == "screen")
        try client.send(offer: "second", to: host, track: "desk2")
        let answer = try client.next(event: "_answer")
        #expect(answer["track"] as? String == "desk2" && answer["socketId"] as? String == host)
        #expect(other.state.withLock { $0.offers } == ["second"])
        #expect(server.media.state.withLock { $0.offers } == ["first"])

        let late = try WebSocketClient(port: server.port)
        try late.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"}")
        #expect(names(try late.next(event: "_peers")) == ["screen live", "desk2 live"])
        #expect(try late.next(event: "_state")["track"] as? String == "screen")
        #expect(try late.next(event: "_state")["track"] as? String == "desk2")

        server.server.removeTrack("desk2", room: "desk")
        let ended = try client.next(event: "_session_ended")
        #expect(ended["track"] as? String == "desk2" && ended["socketId"] as? String == host)
        #expect(names(try client.next(event: "_tracks")) == ["screen live"])
        #expect(other.state.withLock { $0.closed } == [MediaSessionID(rawValue: 1)])
        #expect(server.media.state.withLock { $0.closed }.isEmpty)
        try client.send(offer: "again", to: host, track: "desk2")
        let refused = try client.next(event: "_refused")
        #expect(refused["track"] as? String == "desk2")
        #expect((refused["reason"] as? String)?.contains("no track") == true)
        try client.send(event: "__unwatch", "{\"track\":\"screen\"}")
        try eventually("the end of the first session") {
            server.media.state.withLock { $0.closed == [MediaSessionID(rawValue: 1)] }
        }
    }

    @Test("a tag is told to those who watch and who come later, and is in the rooms' report")
    func tags() throws {
        let server = try RunningServer()
        _ = try server.addSecondTrack()
        let client = try WebSocketClient(port: server.port)
        _ = try client.joinAsViewer("desk,secret")
        _ = try client.next(event: "_state")
        let data = try #require(JSONValue(parsing: #"{"seat": 4, "tags": ["a", true, null, 1.5]}"#))
        server.server.announce(try TrackTag(text: "Slides", data: data), room: "desk", track: "desk2")
        func check(_ told: [String: Any]) throws {
            let tracks = try #require(told["tracks"] as? [[String: Any]])
            #expect(tracks.map { $0["name"] as? String } == ["screen", "desk2"])
            #expect(tracks[0]["text"] == nil && tracks[0]["data"] == nil)
            #expect(tracks[1]["text"] as? String == "Slides")
            let value = try #require(tracks[1]["data"] as? [String: Any])
            #expect(value["seat"] as? Int == 4 && (value["tags"] as? [Any])?.count == 4)
        }
        try check(try client.next(event: "_tracks"))
        let late = try WebSocketClient(port: server.port)
        try late.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"}")
        try check(try late.next(event: "_peers"))
        let rooms = Mutex<RoomsDocument?>(nil)
        server.server.describe { report in rooms.withLock { $0 = report } }
        let report = try eventually("the report") { rooms.withLock { $0 } }
        #expect(report.rooms.first?.tracks.last?.text == "Slides" && report.rooms.first?.tracks.last?.data == data)
        // What hasn't changed isn't told again.
        server.server.announce(try TrackTag(text: "Slides", data: data), room: "desk", track: "desk2")
        server.server.announce(TrackTag(), room: "desk", track: "desk2")
        let empty = try client.next(event: "_tracks")
        #expect((empty["tracks"] as? [[String: Any]])?.allSatisfy { $0["text"] == nil && $0["data"] == nil } == true)
    }

    @Test("a tag is short and has no control characters")
    func tagLimits() throws {
        #expect(throws: TrackTagError.longText) { try TrackTag(text: String(repeating: "a", count: 201)) }
        #expect(throws: TrackTagError.controlCharacter) { try TrackTag(text: "a\nb") }
        #expect(throws: TrackTagError.longData) { try TrackTag(data: .string(String(repeating: "a", count: 1023))) }
        #expect(try TrackTag(text: String(repeating: "ä", count: 200), data: .null).text?.count == 200)
        for text in ["", "{", "nul", "{a:1}", String(repeating: "[", count: 900)] {
            #expect(JSONValue(parsing: text) == nil, "\(text)")
        }
    }

    @Test("a viewer has the pictures of one track held back, by default of the first one")
    func held() throws {
        let server = try RunningServer()
        let other = try server.addSecondTrack()
        let client = try WebSocketClient(port: server.port)
        let (_, host) = try client.joinAsViewer("desk,secret")
        _ = try client.next(event: "_state")
        for track in ["screen", "desk2"] {
            try client.send(offer: "of \(track)", to: host, track: track)
            _ = try client.next(event: "_answer")
        }
        try client.send(event: "__hold", "{\"delay\":60,\"track\":\"desk2\"}")
        try client.send(event: "__hold", "{\"delay\":1e30}")
        try client.send(event: "__hold", "{\"delay\":20}")
        let first = MediaSessionID(rawValue: 1)
        try eventually("both wishes") { server.media.state.withLock { $0.holds == [first: .milliseconds(20)] } }
        #expect(other.state.withLock { $0.holds } == [first: .milliseconds(60)])
    }

    @Test("each track has a sound of its own, and messages about it name the track")
    func sounds() throws {
        let server = try RunningServer()
        _ = try server.addSecondTrack()
        let client = try WebSocketClient(port: server.port)
        _ = try client.joinAsViewer("desk,secret")
        _ = try client.next(event: "_state")
        server.server.announceSound(.live, room: "desk", track: "desk2")
        // Neither is a track of the room.
        server.server.announceSound(.live, room: "desk", track: "no name")
        server.server.announceSound(.live, room: "desk", track: "none")
        server.server.announceSound(.muted, room: "desk")
        for (track, word) in [("desk2", "live"), ("screen", "muted")] {
            let data = try client.next(event: "_sound")
            #expect(data["track"] as? String == track && data["sound"] as? String == word)
        }
        // One that is removed and comes back has none until it is announced again.
        server.server.removeTrack("desk2", room: "desk")
        _ = try client.next(event: "_tracks")
        _ = try server.addSecondTrack()
        let late = try WebSocketClient(port: server.port)
        _ = try late.joinAsViewer("desk,secret")
        _ = try late.next(event: "_state")
        #expect(try late.next(event: "_sound")["track"] as? String == "screen")
    }

    @Test("a second offer for a track ends the first session of that track alone")
    func secondOffer() throws {
        let server = try RunningServer()
        let other = try server.addSecondTrack()
        let client = try WebSocketClient(port: server.port)
        let (_, host) = try client.joinAsViewer("desk,secret")
        #expect(try client.next(event: "_state")["track"] as? String == "desk2")
        for (offer, track) in [("1", "screen"), ("2", "desk2"), ("3", "desk2")] {
            try client.send(offer: offer, to: host, track: track)
            #expect(try client.next(event: "_answer")["track"] as? String == track)
        }
        #expect(other.state.withLock { $0.closed } == [MediaSessionID(rawValue: 1)])
        #expect(server.media.state.withLock { $0.closed }.isEmpty)
        other.end(2, "no word for 30 s")
        let ended = try client.next(event: "_session_ended")
        #expect(ended["track"] as? String == "desk2" && ended["reason"] as? String == "no word for 30 s")
    }

    @Test("players and snapshots ask for a track by its name")
    func players() throws {
        let server = try RunningServer()
        let other = try server.addSecondTrack()
        other.state.withLock { $0.picture = .success([1, 2, 3]) }
        let headers = ["Authorization": "Bearer secret", "Content-Type": "application/sdp"]
        let answer = try server.request("POST", "/whep/desk?track=desk2", headers, body: "v=0\r\n")
        #expect(answer.status == 201)
        #expect(other.state.withLock { $0.offers.count } == 1)
        #expect(try server.request("POST", "/whep/desk?track=none", headers, body: "v=0\r\n").status == 404)
        #expect(try server.request("GET", "/snapshot.png?track=desk2", headers).body == [1, 2, 3])
        #expect(try server.request("GET", "/snapshot.png?room=desk&track=none", headers).status == 404)
        let link = "http://127.0.0.1:\(server.port)/#desk,secret"
        #expect(try SnapshotClient().fetchSnapshot(link: link, track: "desk2", format: .png) == [1, 2, 3])
        #expect(throws: SnapshotClientError.noTrack) {
            try SnapshotClient().fetchSnapshot(link: link, track: "none", format: .png)
        }
        #expect(try server.request("GET", "/snapshot.png", headers).status == 503)
        server.server.removeTrack("desk2", room: "desk")
        try eventually("the player's end") { server.server.audience(of: "desk").players == 0 }
        #expect(other.state.withLock { $0.closed } == [MediaSessionID(rawValue: 1)])
        let location = try #require(answer.headers["location"])
        #expect(try server.request("GET", location, headers).status == 404)
    }

    @Test("a room without a track lets viewers wait for one")
    func noTrack() throws {
        let media = FakeMedia()
        let server = try RunningServer { $0.rooms.append(RoomConfiguration(name: "attic", token: nil)) }
        let client = try WebSocketClient(port: server.port)
        let (_, host) = try client.joinAsViewer("attic")
        try client.send(offer: "o", to: host)
        #expect(try client.next(event: "_refused")["reason"] as? String == "nothing is shared in this room now")
        server.server.addTrack("cam", media: media, room: "attic")
        #expect(names(try client.next(event: "_tracks")) == ["cam waiting"])
        try client.send(offer: "o", to: host)
        #expect(try client.next(event: "_answer")["track"] == nil)
        for name in ["cam", "no name", ""] { server.server.addTrack(name, media: media, room: "attic") }
        server.server.addTrack("cam", media: media, room: "nowhere")
        server.server.announce(.live, room: "attic")
        #expect(try client.next(event: "_state")["source"] as? String == "live")
    }

    @Test("a page hears of the pointers of the tracks that it watches")
    func pointers() throws {
        let server = try RunningServer()
        _ = try server.addSecondTrack()
        let client = try WebSocketClient(port: server.port)
        let (_, host) = try client.joinAsViewer("desk,secret")
        _ = try client.next(event: "_state")
        for track in ["screen", "desk2"] {
            server.server.updatePointer(.ability(tellsPointer: true), room: "desk", track: track)
            server.server.updatePointer(.pictures(areDrawn: false), room: "desk", track: track)
            let place = PointerPosition(x: track.utf8.count, y: 2, isVisible: true)
            server.server.updatePointer(.position(place, of: nil), room: "desk", track: track)
        }
        try server.server.waitUntilTaken()
        try client.send(offer: "o", to: host, track: "desk2")
        #expect(try client.next(event: "_answer")["track"] as? String == "desk2")
        let place = try client.next(event: "_pointer")
        #expect(place["track"] as? String == "desk2" && place["x"] as? Int == 5)
        let mode = try client.next(event: "_pointer_mode")
        #expect(mode["track"] as? String == "desk2" && mode["drawn"] as? Bool == false)
        server.server.updatePointer(
            .position(PointerPosition(x: 7, y: 2, isVisible: true), of: nil), room: "desk", track: "screen")
        server.server.updatePointer(
            .position(PointerPosition(x: 8, y: 2, isVisible: true), of: nil), room: "desk", track: "desk2")
        #expect(try client.next(event: "_pointer")["x"] as? Int == 8)
    }
}
