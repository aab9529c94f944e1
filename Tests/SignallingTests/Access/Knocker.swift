import Foundation
import TestSupport

@testable import Signalling

/// A client that asks to enter a room and may have to wait.
struct Knocker {
    let client: WebSocketClient

    /// `more` stands in its `__join` as it is.
    init(
        _ server: borrowing RunningServer, _ name: String, token: String = "audience", room: String = "desk",
        more: String = ",\"role\":\"viewer\""
    ) throws {
        client = try WebSocketClient(port: server.port)
        try client.send(event: "__join", "{\"room\":\"\(room),\(token)\",\"name\":\"\(name)\"\(more)}")
    }

    init(client: WebSocketClient) {
        self.client = client
    }

    /// One that waits.
    static func waiting(_ server: borrowing RunningServer, _ name: String) throws -> Knocker {
        let knocker = try Knocker(server, name)
        _ = try knocker.client.next(event: "_waiting")
        return knocker
    }

    /// The code with which the host closes the WebSocket.
    func closeCode() throws -> UInt16 {
        while true {
            switch try client.next() {
            case .close(let code): return code
            case .ping: try client.send("", opcode: 0xA)
            case .text, .binary, .pong: continue
            }
        }
    }

    /// Waits until the host has read all that this member has sent.
    func waitForClock() throws {
        try client.send(event: "__clock", "{\"t\":1}")
        while true {
            if case .text(let text) = try client.next(), text.contains("\"_clock\"") { return }
        }
    }

    /// The identifier under which it enters.
    func entered() throws -> String? { try client.next(event: "_peers")["you"] as? String }

    /// Ends the connection as a page does that is closed.
    func leave() throws {
        try client.raw.send(WebSocketClient.frame(8, [0x03, 0xE9]))
        try client.raw.waitForEnd()
    }
}

extension Visitor {
    /// Waits until the host tells an owner of such a door, and returns the identifiers of those who wait.
    @discardableResult
    func waitForDoor(isLocked: Bool = false, _ names: [String]? = nil) throws -> [String] {
        while true {
            let door = try next("_door")
            let members = door["members"] as? [[String: Any]]
            guard door["locked"] as? Bool == isLocked, members?.map({ $0["name"] as? String ?? "" }) == names else {
                continue
            }
            return members?.compactMap { $0["socketId"] as? String } ?? []
        }
    }

    /// Sends an owner's request about the door.
    func door(_ action: String, _ target: String? = nil) throws {
        let receiver = target.map { ",\"socketId\":\"\($0)\"" } ?? ""
        try client.send(event: "__door", "{\"action\":\"\(action)\"\(receiver)}")
    }
}

extension RunningServer {
    /// A request to `/api` with the administrators' token, and the status of its answer.
    func administer(_ path: String, token: String = "master") throws -> Int {
        try request("POST", "/api/rooms/desk/" + path, ["Authorization": "Bearer \(token)"]).status
    }

    /// The first room, as `/api` describes it.
    func firstRoom() throws -> RoomsDocument.Room {
        let answer = try request("GET", "/api/rooms", ["Authorization": "Bearer master"])
        return try RoomsDocument(json: answer.text).rooms[0]
    }

    /// The status of an offer of a WHEP player with `token`.
    func play(_ token: String) throws -> Int {
        try request(
            "POST", "/whep/desk", ["Authorization": "Bearer \(token)", "Content-Type": "application/sdp"],
            body: EndpointClient.offer
        ).status
    }
}
