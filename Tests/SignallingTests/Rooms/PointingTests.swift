import Foundation
import MediaTypes
import Rooms
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Pointing over WebSockets")
struct PointingTests {
    @Test("the other pages of the room are told where a viewer points, by its name, and when it stops")
    func relayed() throws {
        let server = try RunningServer {
            $0.rooms.append(RoomConfiguration(name: "attic", token: "secret"))
        }
        let ann = try PointingPage(server, "Ann")
        let (bob, cid) = (try PointingPage(server, "Bob"), try PointingPage(server, nil))
        let stranger = try WebSocketClient(port: server.port)
        _ = try stranger.joinAsViewer("attic,secret")
        let plain = try WebSocketClient(port: server.port)
        try plain.send(event: "__join", "{\"room\":\"desk,secret\"}")
        #expect(try plain.next(event: "_peers")["pointing"] == nil)
        #expect(ann.mayPoint && bob.mayPoint && cid.mayPoint)
        try ann.point(0.25, 1)
        for page in [bob, cid] {
            let data = try page.hear(x: 0.25, from: ann)
            #expect(data["y"] as? Double == 1 && data["name"] as? String == "Ann" && data["track"] == nil)
        }
        // Another order of keys is as good, and so is a single underscore.
        try ann.client.send("{\"data\":{\"y\":0.33333333,\"x\":0.123456},\"eventName\":\"_point\"}")
        #expect(try bob.hear(x: 0.1235, from: ann)["y"] as? Double == 0.3333)
        // Several at once.
        try bob.point(0.5, 0.5)
        try ann.hear(x: 0.5, from: bob)
        try cid.hear(x: 0.5, from: bob)
        try ann.point("{}")
        #expect(try bob.hear(x: nil, from: ann).keys.sorted() == ["socketId"])
        // Nobody is told of its own dot, and neither is a plain client or a page of another room.
        #expect(try ann.heard("_point").isEmpty)
        for client in [stranger, plain] {
            try client.send(event: "__clock", "{\"t\":1}")
            #expect(try client.next(event: "_clock")["t"] as? Int == 1)
        }
        withExtendedLifetime((ann, bob, cid)) {}
        #expect(server.server.allowsPointing)
    }

    @Test("a dot on a second track names it, and reaches a page without a session for that track")
    func secondTrack() throws {
        let server = try RunningServer()
        let media = try server.addSecondTrack()
        let (ann, bob) = (try PointingPage(server, "Ann"), try PointingPage(server, "Bob"))
        for track in ["desk2", "screen"] {
            try ann.point(0.5, 0.25, track: track)
            var found: String?
            while found != track { found = try bob.hear(x: 0.5, from: ann)["track"] as? String }
        }
        // Without a name, the first one is meant.
        try ann.point(0.75, 0.25)
        #expect(try bob.hear(x: 0.75, from: ann)["track"] as? String == "screen")
        for track in ["none", "no name", ""] { try ann.point(0.9, 0.9, track: track) }
        try ann.point(0.125, 0, track: "desk2")
        var places: [Double] = []
        while places.last != 0.125 { places.append(try #require(try bob.next(of: "_point").data["x"] as? Double)) }
        #expect(!places.contains(0.9), "\(places)")
        #expect(media.state.withLock { $0.offers.isEmpty })
        server.server.removeTrack("desk2", room: "desk")
        try server.server.waitUntilTaken()
        try ann.point(0.9, 0, track: "desk2")
        #expect(try ann.heard("_point").isEmpty)
        #expect(try bob.heard("_point").isEmpty)
        withExtendedLifetime((ann, bob)) {}
    }

    @Test(
        "a place that isn't in a picture has no effect",
        arguments: [
            "{\"x\":1.0001,\"y\":0}", "{\"x\":-0.1,\"y\":0}", "{\"x\":0.5}", "{\"y\":0.5}", "{\"x\":\"0.5\",\"y\":0.5}",
            "{\"x\":null,\"y\":0.5}", "{\"x\":1e999,\"y\":0.5}", "{\"x\":-1e999,\"y\":0}", "{\"x\":[0.5],\"y\":0.5}",
            "{\"x\":true,\"y\":0.5}", "{\"x\":NaN,\"y\":0.5}", "[]", "null", "7",
        ])
    func badValues(data: String) throws {
        let server = try RunningServer()
        let (ann, bob) = (try PointingPage(server, "Ann"), try PointingPage(server, "Bob"))
        try ann.point(data)
        try ann.point(0.5, 0.5)
        let first = try bob.next(of: "_point").data
        #expect(first["x"] as? Double == 0.5 && first["y"] as? Double == 0.5)
        withExtendedLifetime((ann, bob)) {}
        #expect(server.server.droppedPoints == 0)
    }

    @Test("a viewer without a name and a plain client don't point, and a name with markup is passed on as it is")
    func names() throws {
        let server = try RunningServer()
        let (guest, bob) = (try PointingPage(server, nil), try PointingPage(server, "Bob"))
        try guest.point("{\"x\":0.1,\"y\":0.1,\"path\":[[0.1,0.1]]}")
        #expect(try guest.heard("_point").isEmpty)
        let plain = try WebSocketClient(port: server.port)
        try plain.send(event: "__join", "{\"room\":\"desk,secret\",\"name\":\"Pat\"}")
        _ = try plain.next(event: "_peers")
        try plain.send(event: "__point", "{\"x\":0.2,\"y\":0.2}")
        try plain.send(event: "__clock", "{\"t\":1}")
        _ = try plain.next(event: "_clock")
        let eve = try PointingPage(server, "<img src=x onerror=alert(1)>\\u202e")
        try eve.point(0.3, 0.3)
        let first = try bob.next(of: "_point").data
        #expect(first["x"] as? Double == 0.3 && first["name"] as? String == "<img src=x onerror=alert(1)>")
        withExtendedLifetime((guest, bob, eve, plain)) {}
        #expect(server.server.allowsPointing)
    }

    @Test("of 500 positions in a burst few are passed on, the rest is counted, and nobody is disconnected")
    func flood() throws {
        let server = try RunningServer()
        let (ann, eve) = (try PointingPage(server, "Ann"), try PointingPage(server, "Eve"))
        let bob = try PointingPage(server, "Bob")
        let began = ContinuousClock.now
        for step in 1...500 { try eve.point("{\"x\":\(Double(step) / 1000),\"y\":0,\"path\":[[0,0],[1,1]]}") }
        try ann.point(1, 1)
        try bob.hear(x: 1, from: ann)
        // Eve is still there, and all that it sent has been read.
        #expect(try eve.heard("_point").allSatisfy { $0["x"] as? Double == 1 })
        let seconds = began.duration(to: .now) / .seconds(1)
        let dropped = server.server.droppedPoints
        #expect(Double(500 - dropped) <= 20 + 40 * seconds + 1, "\(dropped) in \(seconds) s")
        #expect(dropped > 0)
        // After a pause, which depends on the rate only, Eve's dot moves again.
        try eventually(
            "another dot of Eve",
            holds: {
                try eve.point(0.75, 0.75)
                return try bob.heard("_point").contains { $0["x"] as? Double == 0.75 }
            })
        withExtendedLifetime((ann, eve, bob)) {}
        #expect(server.server.droppedPoints >= dropped)
    }

    @Test("surplus positions in another form count as messages, and the client is disconnected in the end")
    func expensiveFlood() throws {
        let server = try RunningServer()
        let eve = try PointingPage(server, "Eve")
        let frame = WebSocketClient.frame(1, Array("{\"data\":{\"y\":0,\"x\":0},\"eventName\":\"__point\"}".utf8))
        for _ in 1...500 {
            guard try eve.client.raw.send(frame) else { break }
        }
        var last = WebSocketClient.Frame.ping
        while last != .close(1008) { last = try eve.client.next() }
        #expect(server.server.droppedPoints > 0)
    }

    @Test("while pointing is forbidden, dots go, a message is refused and the page told; then it is allowed again")
    func forbidden() throws {
        let server = try RunningServer()
        let (ann, bob) = (try PointingPage(server, "Ann"), try PointingPage(server, "Bob"))
        server.server.allowPointing(false)
        #expect(!server.server.allowsPointing)
        for page in [ann, bob] { #expect(try page.next(of: "_pointing").data["pointing"] as? Bool == false) }
        let late = try PointingPage(server, "Cid")
        #expect(!late.mayPoint)
        try ann.point("{\"x\":0.5,\"y\":0.5,\"path\":[[0.5,0.5]]}")
        #expect(try ann.next(of: "_pointing").data["pointing"] as? Bool == false)
        #expect(try bob.heard("_point").isEmpty)
        // The same again is no news.
        server.server.allowPointing(false)
        server.server.allowPointing(true)
        try server.server.waitUntilTaken()
        for page in [ann, bob, late] {
            #expect(try page.heard("_pointing").map { $0["pointing"] as? Bool } == [true])
        }
        try ann.point(0.75, 0.5)
        try bob.hear(x: 0.75, from: ann)
        withExtendedLifetime((ann, bob, late)) {}
        #expect(server.server.allowsPointing)
    }

    @Test("the source of the track is told the same, for the sharer's own screen")
    func sharersScreen() throws {
        let server = try RunningServer()
        let second = try server.addSecondTrack()
        let media = server.media
        func told(_ media: FakeMedia, _ what: String, _ isWanted: (ViewerPoint?) -> Bool) throws {
            try eventually(what, holds: { media.state.withLock { $0.points.last.map(isWanted) ?? false } })
        }
        let (ann, bob) = (try PointingPage(server, "Ann"), try PointingPage(server, "Bob"))
        try ann.point("{\"x\":0.25,\"y\":1,\"path\":[null,[0.25,1]]}")
        let (place, middle) = (ViewerPoint.Place(fractions: 0.25, 1), ViewerPoint.Place(fractions: 0.5, 0.5))
        try told(media, "the place") { $0?.name == "Ann" && $0?.place == place && $0?.path == [nil, place] }
        let viewer = media.state.withLock { $0.points.last??.viewer }
        // On another track, its dot on the first one ends.
        try ann.point(0.5, 0.5, track: "desk2")
        try told(second, "the other place") { $0?.viewer == viewer && $0?.place == middle }
        try told(media, "the end") { $0?.viewer == viewer && $0?.place == nil && $0?.path == [] }
        try bob.point(0.5, 0.5)
        try told(media, "the second viewer") { $0?.name == "Bob" && $0?.viewer != viewer && $0?.place != nil }
        try ann.point("{}")
        try bob.point("{}")
        try told(media, "the second viewer's end") { $0?.name == "Bob" && $0?.place == nil }
        try told(second, "the first viewer's end") { $0?.name == "Ann" && $0?.place == nil }
        server.server.allowPointing(false)
        for media in [media, second] { try told(media, "the end of all") { $0 == nil } }
        withExtendedLifetime((ann, bob)) {}
    }

    @Test("neither a viewer's token nor the presenters' one switches pointing over /api")
    func tokens() throws {
        let commands = CommandAnswers()
        commands.use { command in
            Issue.record("it was carried out: \(command)")
            return .done("")
        }
        let server = try RunningServer {
            $0.rooms[0].access = RoomAccess(viewing: "audience", presenting: "secret")
            $0.administration = Administration(token: "master", allowsNetwork: false)
            $0.commands = commands
        }
        for token in ["audience", "secret", ""] {
            for state in ["on", "off"] {
                let answer = try server.request(
                    "POST", "/api/pointing-\(state)", ["Authorization": "Bearer \(token)"])
                #expect(answer.status == 401)
            }
        }
    }

    @Test("the dot of a viewer that leaves, or takes another name, ends", arguments: [true, false])
    func leaving(closes: Bool) throws {
        let server = try RunningServer()
        let (ann, bob) = (try PointingPage(server, "Ann"), try PointingPage(server, "Bob"))
        try ann.point(0.5, 0.5)
        try bob.hear(x: 0.5, from: ann)
        if closes {
            try ann.client.raw.send(WebSocketClient.frame(8, [0x03, 0xE9]))
        } else {
            try ann.client.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\",\"name\":\"Al\"}")
        }
        try bob.hear(x: nil, from: ann)
        withExtendedLifetime((ann, bob)) {}
        #expect(server.server.allowsPointing)
    }

    @Test("a page that reads nothing is owed the latest dot, and the others get each one meanwhile")
    func slowPage() throws {
        let server = try RunningServer { $0.limits.unread = 64 << 20 }
        let (ann, bob) = (try PointingPage(server, "Ann"), try PointingPage(server, "Bob"))
        let slow = try PointingPage(server, "Cid")
        // More than the sockets take: 15 MB, told to pages that read as well.
        let text = String(repeating: "x", count: 100_000)
        for number in 1...150 {
            server.server.announce(.gone(since: .zero, reason: "\(number) \(text)"), room: "desk")
            for page in [ann, bob] {
                var message = ""
                while !message.hasPrefix("\(number) ") {
                    message = try page.next(of: "_state").data["message"] as? String ?? ""
                }
            }
        }
        let pen = (0..<16).map { "[0.\($0 + 10),0]" }.joined(separator: ",")
        for step in 1...15 {
            try ann.point("{\"x\":\(Double(step) / 100),\"y\":0,\"path\":[\(pen)]}")
            let data = try bob.hear(x: Double(step) / 100, from: ann)
            #expect(PointingPage.path(data).count == 16)
        }
        let owed = try slow.heard("_point")
        #expect(owed.count <= 1)
        // Of what it has missed, only the end, as a line of its own.
        let path = owed.first.map(PointingPage.path) ?? []
        #expect(path.count <= PointedDots.longestPath + 1 && path.first ?? [] == [])
        try eventually(
            "the latest dot",
            holds: {
                try ann.point(0.5, 0.5)
                return try slow.heard("_point").contains { $0["x"] as? Double == 0.5 }
            })
        withExtendedLifetime((ann, bob, slow)) {}
        #expect(server.server.allowsPointing)
    }
}
