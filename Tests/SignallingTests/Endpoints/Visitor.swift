import Foundation
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

/// A page's visit to a room.
struct Visitor {
    let client: WebSocketClient
    let token: String
    let name: String
    let id: String
    let visit: String
    /// Its turn when it joined.
    let turn: String?
    /// The state of the chat when it joined; nil if it may not write.
    let chat: ChatSummary?

    /// `secrets` stand in its `__join` as they are.
    init(
        _ server: borrowing RunningServer, _ token: String, _ name: String, room: String = "desk", secrets: String = ""
    ) throws {
        client = try WebSocketClient(port: server.port)
        self.token = token
        self.name = name
        try client.send(
            event: "__join", "{\"room\":\"\(room),\(token)\",\"role\":\"viewer\",\"name\":\"\(name)\"\(secrets)}")
        let peers = try client.next(event: "_peers")
        id = try #require(peers["you"] as? String)
        visit = try #require(peers["resume"] as? String)
        turn = peers["turn"] as? String
        let summary = peers["chat"] as? [String: Any]
        chat = summary.map { ChatSummary(last: $0["last"] as? Int ?? -1, kept: $0["kept"] as? Int ?? -1) }
    }

    func send(_ action: String, _ target: String? = nil) throws {
        let receiver = target.map { ",\"socketId\":\"\($0)\"" } ?? ""
        try client.send(event: "__turn", "{\"action\":\"\(action)\"\(receiver)}")
    }

    /// The next event that is one of `names`, with its data.
    private func next(of names: String...) throws -> (name: String, data: [String: Any]) {
        while true {
            switch try client.next() {
            case .text(let text):
                let message = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
                guard let name = message?["eventName"] as? String, names.contains(name) else { continue }
                return (name, message?["data"] as? [String: Any] ?? [:])
            case .ping: try client.send("", opcode: 0xA)
            case .close(let code): throw TestSocket.Failure(what: "closed with \(code)")
            case .binary, .pong: continue
            }
        }
    }

    func next(_ name: String) throws -> [String: Any] { try next(of: name).data }

    /// The data of the events of this name that the host has sent since the last one that was read, up to the answer to
    /// a `__clock` that the caller has sent.
    func heardBeforeClock(_ name: String) throws -> [[String: Any]] {
        var all: [[String: Any]] = []
        while true {
            let (found, data) = try next(of: name, "_clock")
            if found == "_clock" { return all }
            all.append(data)
        }
    }

    func nextTurn() throws -> String? { try next("_turn")["turn"] as? String }

    /// Whether the host has sent no `_turn` since the last one that was read.
    func hearsNoTurn() throws -> Bool {
        try client.send(event: "__clock", "{\"t\":1}")
        return try next(of: "_turn", "_clock").name == "_clock"
    }

    /// How many lists of turns the host has sent since the last one that was read.
    func listsHeard() throws -> Int {
        try client.send(event: "__clock", "{\"t\":1}")
        var count = 0
        while try next(of: "_turns", "_clock").name == "_turns" { count += 1 }
        return count
    }

    /// Waits until the list of turns is this one: names, each with a turn.
    func waitForTurns(_ wanted: [String]) throws {
        var list: [String]?
        while list != wanted {
            let members = try next("_turns")["members"] as? [[String: Any]] ?? []
            list = members.map { "\($0["name"] as? String ?? "") \($0["turn"] as? String ?? "")" }
        }
    }
}

extension RunningServer {
    /// A host with the rooms "desk" and "attic", whose viewers have the token "audience", owners "secret", and
    /// administrators "master". A viewer may ask again as soon as its request was declined.
    static func withTurns(
        _ publishing: FakePublishing, _ change: (inout SignallingConfiguration) -> Void = { _ in }
    ) throws -> RunningServer {
        try RunningServer(media: CallingMedia()) {
            $0.publishing = publishing
            $0.acceptsTurnRequests = true
            let access = RoomAccess(viewing: "audience", presenting: "secret")
            $0.rooms = ["desk", "attic"].map { RoomConfiguration(name: $0, access: access) }
            $0.administration = Administration(token: "master", allowsNetwork: false)
            $0.limits.askAgainTime = .zero
            change(&$0)
        }
    }

    /// Publishes a screen as a page does, and returns the status.
    func present(_ visitor: Visitor, in room: String = "desk") throws -> Int {
        try request(
            "POST", "/whip/\(room)/screen-\(visitor.id.prefix(8))",
            [
                "Authorization": "Bearer \(visitor.token)", "Content-Type": "application/sdp",
                "X-Visit": visitor.visit,
            ], body: EndpointClient.offer
        ).status
    }

    /// Decides about a turn over `/api`, and returns the status.
    func decide(
        _ decision: String, _ member: String, room: String = "desk", token: String = "master", seconds: String? = nil
    ) throws -> Int {
        let query = seconds.map { "?seconds=\($0)" } ?? ""
        let path = "/api/rooms/\(room)/members/\(member)/turn/\(decision)\(query)"
        return try request("POST", path, ["Authorization": "Bearer \(token)"]).status
    }

    /// The visitor asks for the turn, and is allowed to present over `/api`.
    func allow(_ visitor: Visitor, seconds: String? = nil) throws {
        try visitor.send("ask")
        #expect(try visitor.nextTurn() == "asked")
        let status = try decide("allow", visitor.id, seconds: seconds)
        #expect(status == 204)
        #expect(try visitor.nextTurn() == "granted")
    }

    /// The turns of the pages in the first room, in order of arrival.
    func turns() throws -> [String?] {
        let answer = try request("GET", "/api/rooms", ["Authorization": "Bearer master"])
        return try RoomsDocument(json: answer.text).rooms[0].members.filter { $0.kind == "viewer" }.map(\.turn)
    }

    /// How many messages of members had no effect so far.
    func ignoredMessages() throws -> Int {
        let answer = Answer()
        server.countIgnored { count in answer.count.withLock { $0 = count } }
        return try eventually("the count") { answer.count.withLock { $0 } }
    }
}

private final class Answer: Sendable {
    let count = Mutex<Int?>(nil)
}
