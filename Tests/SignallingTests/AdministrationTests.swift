import Foundation
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
        let server = try server()
        let wrong = [
            [:], ["Authorization": "Bearer secret"], ["Authorization": "Bearer "], ["Authorization": "master"],
        ]
        var answers: [RawResponse] = []
        for headers in wrong {
            for (method, path) in [
                ("GET", "/api/rooms"), ("GET", "/api/rooms/desk"), ("GET", "/api/rooms/attic"), ("PUT", "/api/rooms"),
                ("DELETE", "/api/rooms/desk/members/x"), ("GET", "/api"), ("OPTIONS", "/api/rooms"),
            ] {
                answers.append(try server.request(method, path, headers).timeless)
            }
        }
        #expect(answers.allSatisfy { $0 == answers[0] && $0.status == 401 })
        #expect(answers[0].headers["www-authenticate"] == "Bearer")
        // And the administration's token is no room's.
        #expect(try server.request("GET", "/whep/desk", admin).status == 401)
    }

    @Test("what makes no sense there is said by status, in JSON, and other origins get nothing at all")
    func refusals() throws {
        let server = try server()
        let put = try server.request("PUT", "/api/rooms", admin)
        #expect(put.status == 405 && put.headers["allow"] == "GET" && put.text == "{\"error\":\"not possible\"}")
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
        #expect(try server.request("GET", "/api/rooms", host: "example.org", admin).status == 421)
    }

    @Test("a host without such a token has no such interface")
    func off() throws {
        let server = try RunningServer()
        #expect(try server.request("GET", "/api/rooms", admin).status == 404)
    }

    @Test("people are meant by identifier, by name, or by the beginning of an identifier, in that order")
    func calling() {
        func member(_ id: String, _ name: String?) -> RoomsDocument.Member {
            RoomsDocument.Member(
                id: id, kind: "viewer", name: name, address: "::1", seconds: 1, tracks: [], meeting: false)
        }
        var document = RoomsDocument([])
        document.rooms = [
            RoomsDocument.Room(name: "a", tracks: [], members: [member("ab12", "Ann"), member("ab34", "ab12")]),
            RoomsDocument.Room(name: "b", tracks: [], members: [member("cd56", "Ann"), member("ef78", "ab")]),
        ]
        func called(_ who: String) -> [String] { document.members(called: who).map(\.member.id) }
        #expect(called("ab12") == ["ab12"] && called("Ann") == ["ab12", "cd56"] && called("ab") == ["ef78"])
        #expect(called("ab3") == ["ab34"] && called("c") == ["cd56"] && called("x").isEmpty && called("").isEmpty)
        #expect(document.members(called: "cd56").first?.room == "b")
    }
}
