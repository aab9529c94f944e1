import Foundation
import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Administration over HTTP")
struct AdministrationTests {
    private let admin = ["Authorization": "Bearer master"]

    private func server(allowsNetwork: Bool = false) throws -> RunningServer {
        try RunningServer { $0.administration = Administration(token: "master", allowsNetwork: allowsNetwork) }
    }

    @Test("the rooms are told with their tracks and everybody who is there")
    func listing() throws {
        let server = try server()
        let viewer = try WebSocketClient(port: server.port)
        let you = try viewer.joinAsViewer("desk,secret").you
        let answer = try server.request("GET", "/api/rooms", admin)
        #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
        #expect(answer.headers["cache-control"] == "no-store")
        let rooms = try RoomsDocument(json: answer.text).rooms
        #expect(rooms.map(\.name) == ["desk"])
        #expect(rooms.first?.tracks.map(\.name) == ["screen"] && rooms.first?.tracks.first?.state == "waiting")
        let member = try #require(rooms.first?.members.first)
        #expect(member.id == you && member.kind == "viewer" && member.address == "127.0.0.1" && !member.meeting)
        let room = try server.request("GET", "/api/rooms/desk", admin)
        #expect(try JSONDecoder().decode(RoomsDocument.Room.self, from: Data(room.body)).members.map(\.id) == [you])
        #expect(try server.request("GET", "/api/rooms/attic", admin).status == 404)
    }

    @Test("the paths of who watches are told, by whatever protocol they watch, with what is known of each")
    func paths() throws {
        let server = try server()
        let viewer = try WebSocketClient(port: server.port)
        let (you, host) = try viewer.joinAsViewer("desk,secret")
        try viewer.send(offer: "v=0 first", to: host)
        _ = try viewer.next(event: "_answer")
        let player = try server.request(
            "POST", "/whep/desk", ["Authorization": "Bearer secret", "Content-Type": "application/sdp"],
            body: EndpointClient.offer)
        #expect(player.status == 201)
        func members() throws -> [RoomsDocument.Member] {
            try RoomsDocument(json: try server.request("GET", "/api/rooms", admin).text).rooms[0].members
        }
        #expect(try members().map { $0.paths ?? [] } == [[], []])
        server.media.state.withLock { state in
            for number in 1...2 as ClosedRange<UInt64> {
                var statistics = PeerStatistics(
                    id: MediaSessionID(rawValue: number), isConnected: true,
                    targetBitRate: BitRate(bitsPerSecond: 400_000))
                (statistics.address, statistics.getsLowLayer) = ("10.0.0.\(number)", number == 1)
                (statistics.framesSent, statistics.sentPackets, statistics.retransmittedPackets) = (7, 30, 2)
                if number == 1 {
                    statistics.lostPackets = 3
                    statistics.roundTripTime = .milliseconds(40)
                    statistics.estimate = BitRate(bitsPerSecond: 480_000)
                    statistics.queueDelay = .milliseconds(120)
                }
                state.statistics[statistics.id] = statistics
            }
        }
        let found = try members()
        let slow = try #require(found.first { $0.id == you }?.paths?.first)
        #expect(slow.track == "screen" && slow.address == "10.0.0.1" && slow.rung == "narrow")
        #expect(slow.estimateBitsPerSecond == 480_000 && slow.queueNanoseconds == 120_000_000)
        #expect(slow.roundTripNanoseconds == 40_000_000 && slow.lostPackets == 3)
        #expect(slow.pictures == 7 && slow.packets == 30 && slow.retransmittedPackets == 2)
        let other = try #require(found.first { $0.kind == "player" }?.paths?.first)
        #expect(other.rung == "full" && other.estimateBitsPerSecond == nil && other.lostPackets == nil)
    }

    @Test("a member that is removed is told by its socket's close code, and is gone")
    func removal() throws {
        let server = try server()
        let viewer = try WebSocketClient(port: server.port)
        let you = try viewer.joinAsViewer("desk,secret").you
        #expect(try server.request("DELETE", "/api/rooms/attic/members/\(you)", admin).status == 404)
        #expect(try server.request("DELETE", "/api/rooms/desk/members/nobody", admin).status == 404)
        #expect(try server.request("DELETE", "/api/rooms/desk/members/\(you)", admin).status == 204)
        try eventually("the close") { () throws -> Void? in
            if case .close(let code) = try viewer.next() {
                #expect(code == 4410)
                return ()
            }
            return nil
        }
        try eventually("an empty room") {
            try RoomsDocument(json: try server.request("GET", "/api/rooms", admin).text).rooms[0].members.isEmpty
                ? () : nil
        }
    }

    @Test("without its token nothing is learnt: not what is there, nor what could be done with it")
    func tokens() throws {
        let clock = TestClock()
        let server = try RunningServer {
            $0.administration = Administration(token: "master", allowsNetwork: false)
            $0.attemptClock = { clock.now }
        }
        let wrong = [
            [:], ["Authorization": "Bearer secret"], ["Authorization": "Bearer "], ["Authorization": "master"],
        ]
        var answers: [RawResponse] = []
        for headers in wrong {
            for (method, path) in [
                ("GET", "/api/rooms"), ("GET", "/api/rooms/desk"), ("GET", "/api/rooms/attic"), ("PUT", "/api/rooms"),
                ("DELETE", "/api/rooms/desk/members/x"), ("GET", "/api"), ("OPTIONS", "/api/rooms"),
            ] {
                // As slowly as an address may be wrong.
                clock.now += 1
                answers.append(try server.request(method, path, headers).timeless)
            }
        }
        #expect(answers.allSatisfy { $0 == answers[0] && $0.status == 401 })
        #expect(answers[0].headers["www-authenticate"] == "Bearer")
        // And the administration's token is no room's.
        clock.now += 1
        #expect(try server.request("GET", "/whep/desk", admin).status == 401)
    }

    @Test("what makes no sense there is said by status, in JSON, and other origins get nothing at all")
    func refusals() throws {
        let server = try server()
        let put = try server.request("PUT", "/api/rooms", admin)
        #expect(put.status == 405 && put.headers["allow"] == "GET, HEAD")
        #expect(put.text == "{\"error\":\"this method can't be used here; use one of GET, HEAD\"}")
        #expect(try server.request("GET", "/api/rooms/desk/members/x", admin).headers["allow"] == "DELETE")
        for path in ["/api", "/api/", "/api/room", "/api/rooms/desk/members", "/api/rooms/desk/members/x/y"] {
            #expect(try server.request("GET", path, admin).status == 404, "\(path)")
        }
        for origin in ["https://example.org", "null", "http://127.0.0.1:1"] {
            let answer = try server.request("GET", "/api/rooms", admin.merging(["Origin": origin]) { $1 })
            #expect(answer.status == 403)
            #expect(!answer.headers.keys.contains { $0.hasPrefix("access-control") })
        }
        let ours = try server.request("GET", "/api/rooms", admin.merging(["Origin": "http://127.0.0.1"]) { $1 })
        #expect(ours.status == 200 && !ours.headers.keys.contains { $0.hasPrefix("access-control") })
        let misdirected = try server.request("GET", "/api/rooms", host: "example.org", admin)
        #expect(misdirected.status == 421 && misdirected.reason == "Misdirected Request")
    }

    @Test("a host without such a token has no such interface")
    func off() throws {
        let server = try RunningServer()
        #expect(try server.request("GET", "/api/rooms", admin).status == 404)
    }

    @Test("commands are those of the control socket, and their answers are JSON")
    func commands() throws {
        let lines = Mutex<[String]>([])
        let commands = CommandAnswers()
        let server = try RunningServer {
            $0.administration = Administration(token: "master", allowsNetwork: false)
            $0.commands = commands
        }
        #expect(try server.request("POST", "/api/pause", admin).status == 409)
        commands.use { command in
            lines.withLock { $0.append(command.json) }
            return switch command {
            case .status, .link: .document(command.json)
            case .sharpen: .refused("no \"capture\"")
            default: .done("it's done")
            }
        }
        for (method, path, body, command) in [
            ("GET", "status", nil, .status), ("GET", "link", nil, .link), ("POST", "pause", nil, .pause),
            ("POST", "resume", nil, .resume), ("POST", "mute", nil, .mute), ("POST", "mute-mic", nil, .muteMicrophone),
            ("POST", "unmute-mic", nil, .unmuteMicrophone), ("POST", "unmute", nil, .unmute),
            ("POST", "pointing-on", nil, .pointing(true)), ("POST", "pointing-off", nil, .pointing(false)),
            ("POST", "chat-on", nil, .chat(true)), ("POST", "chat-off", nil, .chat(false)),
            ("POST", "stop", nil, .stop),
            ("POST", "rate", "{\"fps\":10}", Self.rate(.atMost(10), nil)),
            (
                "POST", "rate", "{\"bitrate\":600000,\"fps\":\"max\"}", Self.rate(.unlimited, .atMost(600_000))
            ),
        ] as [(String, String, String?, ControlCommand?)] {
            let line = try #require(command).json
            let headers = body == nil ? admin : admin.merging(["Content-Type": "application/json"]) { $1 }
            let answer = try server.request(method, "/api/\(path)", headers, body: body)
            #expect(answer.status == 200 && answer.headers["content-type"] == "application/json", "\(path)")
            #expect(answer.text == (method == "GET" ? line : "{\"done\":\"it's done\"}"))
            #expect(lines.withLock { $0.last } == line)
            #expect(try server.request(method, "/api/\(path)", body: body).status == 401)
            let other = try server.request("PUT", "/api/\(path)", admin)
            #expect(other.status == 405 && other.headers["allow"] == (method == "GET" ? "GET, HEAD" : method))
        }
        let refused = try server.request("POST", "/api/sharpen", admin)
        #expect(refused.status == 409 && refused.text == "{\"error\":\"no \\\"capture\\\"\"}")
    }

    private static func rate(
        _ frames: ControlCommand.RateChange.Limit?, _ bits: ControlCommand.RateChange.Limit?
    ) -> ControlCommand? {
        ControlCommand.RateChange(framesPerSecond: frames, bitsPerSecond: bits).map { .rate($0) }
    }

    @Test(
        "a rate that makes no sense is no command, and the answer says what would be one",
        arguments: [
            "", "{", "[]", "{\"fps\":true}", "{\"fps\":\"fast\"}", "{\"fps\":10,\"size\":3}", "{\"fps\":1.5}",
            "{\"fps\":null}",
            "{\"fps\":99999999999999999999}", "{\"fps\":0}", "{\"fps\":-1}", "{\"fps\":121}", "{\"bitrate\":9999}",
            "{\"fps\":10,\"bitrate\":1000000001}", "{\"fps\":\"10\"}", "{\"fps\":\"max bitrate=10000\"}", "{}",
            "\"max\"",
            String(repeating: "[", count: 60_000),
        ])
    func badRates(body: String) throws {
        let commands = CommandAnswers()
        commands.use { command in
            Issue.record("it was carried out: \(command)")
            return .done("")
        }
        let server = try RunningServer {
            $0.administration = Administration(token: "master", allowsNetwork: false)
            $0.commands = commands
        }
        let json = admin.merging(["Content-Type": "application/json"]) { $1 }
        let answer = try server.request("POST", "/api/rate", json, body: body)
        #expect(answer.status == 400 && answer.text.contains("1 to 120"), "\(answer.text)")
        #expect(try server.request("POST", "/api/rate", admin, body: "{\"fps\":10}").status == 415)
    }

    @Test("events are told over a WebSocket to who has the token, one object a message, until the host ends")
    func events() throws {
        let server = try server()
        let readers = try (1...2).map { _ in try WebSocketClient(port: server.port, path: "/api/events", admin) }
        server.server.tell(event: "{\"event\":\"came\"}")
        server.server.tell(event: "{\"event\":\"left\"}")
        for reader in readers {
            #expect(try reader.next() == .text("{\"event\":\"came\"}"))
            #expect(try reader.next() == .text("{\"event\":\"left\"}"))
        }
        let plain = try server.request("GET", "/api/events", admin)
        #expect(plain.status == 426 && plain.reason == "Upgrade Required" && plain.headers["upgrade"] == "websocket")
        #expect(try server.request("POST", "/api/events", admin).headers["allow"] == "GET")
        let upgrade = WebSocketClient.upgradeHeaders
        #expect(try server.request("GET", "/api/events", upgrade).status == 401)
        let foreign = admin.merging(upgrade) { $1 }.merging(["Origin": "https://example.org"]) { $1 }
        #expect(try server.request("GET", "/api/events", foreign).status == 403)
        server.server.stop()
        for reader in readers { #expect(try reader.next() == .close(1001)) }
    }

    @Test("who doesn't read its events is dropped, the others go on, and only so many may read at once")
    func slowReader() throws {
        let server = try RunningServer {
            $0.administration = Administration(token: "master", allowsNetwork: false)
            $0.limits.unread = 32 * 1024
            $0.limits.eventReaders = 2
        }
        let slow = try WebSocketClient(port: server.port, path: "/api/events", admin)
        let quick = try WebSocketClient(port: server.port, path: "/api/events", admin)
        let full = try server.request("GET", "/api/events", admin.merging(WebSocketClient.upgradeHeaders) { $1 })
        #expect(full.status == 503 && full.headers["retry-after"] != nil)
        // One event after another: the quick one has read each before the next, the slow one none, until its socket is
        // full.
        let event = "{\"event\":\"\(String(repeating: "x", count: 20_000))\"}"
        try eventually("room for another reader") {
            server.server.tell(event: event)
            #expect(try quick.next() == .text(event))
            let answer = try TestSocket(port: server.port).request(
                "GET", "/api/events", admin.merging(WebSocketClient.upgradeHeaders) { $1 })
            return answer.status == 101 ? () : nil
        }
        _ = slow
    }

    @Test("the room whose links have expired is told")
    func expiry() throws {
        let rooms = Mutex<[String]>([])
        let server = try RunningServer { configuration in
            configuration.rooms[0].access.expiry = 100
            configuration.lifetimeClock = { 101 }
            configuration.onExpiry = { room in rooms.withLock { $0.append(room) } }
        }
        try eventually("the expiry", holds: { rooms.withLock { $0 } == ["desk"] })
        #expect(try server.request("GET", "/whep/desk", ["Authorization": "Bearer secret"]).status == 401)
    }

    @Test("people are meant by name, identifier or the beginning of one, the closer before the further")
    func calling() {
        func member(_ id: String, _ name: String?) -> RoomsDocument.Member {
            RoomsDocument.Member(
                id: id, kind: "viewer", name: name, address: "::1", seconds: 1, tracks: [], meeting: false)
        }
        var document = RoomsDocument(rooms: [])
        document.rooms = [
            RoomsDocument.Room(name: "a", tracks: [], members: [member("ab12", "Ann"), member("ab34", "ab12")]),
            RoomsDocument.Room(name: "b", tracks: [], members: [member("cd56", "Ann"), member("ef78", "ab")]),
        ]
        func called(_ who: String) -> [String] { document.members(called: who).map(\.member.id) }
        #expect(called("ab12") == ["ab12"] && called("Ann") == ["ab12", "cd56"] && called("ab") == ["ef78"])
        #expect(called("ab3") == ["ab34"] && called("c") == ["cd56"] && called("x").isEmpty && called("").isEmpty)
        // Upper and lower case, and beginnings of names.
        #expect(
            called("ann") == ["ab12", "cd56"] && called("AB12") == ["ab12", "ab34"] && called("aN") == ["ab12", "cd56"])
        #expect(called("CD5") == ["cd56"] && called("A") == ["ab12", "ab34", "cd56", "ef78"])
        document.rooms[0].members[0].name = "ÄNNE"
        #expect(called("än") == ["ab12"])
        #expect(document.members(called: "cd56").first?.room == "b")
    }
}
