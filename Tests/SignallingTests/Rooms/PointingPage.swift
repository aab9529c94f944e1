import Foundation
import TestSupport
import Testing

/// A page's visit to the room "desk".
struct PointingPage {
    let client: WebSocketClient
    let id: String
    /// Whether it may point, as it was told when it joined.
    let mayPoint: Bool

    /// Joins as a viewer called `name`, which is in JSON; nil for a viewer without a name.
    init(_ server: borrowing RunningServer, _ name: String?) throws {
        client = try WebSocketClient(port: server.port)
        let named = name.map { ",\"name\":\"\($0)\"" } ?? ""
        try client.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"\(named)}")
        let peers = try client.next(event: "_peers")
        id = try #require(peers["you"] as? String)
        mayPoint = peers["pointing"] as? Bool ?? false
    }

    /// Sends `__point` in exactly the page's form; `data` is JSON.
    func point(_ data: String) throws { try client.send(event: "__point", data) }

    func point(_ x: Double, _ y: Double, track: String? = nil) throws {
        try point("{\"x\":\(x),\"y\":\(y)\(track.map { ",\"track\":\"\($0)\"" } ?? "")}")
    }

    /// The next event that is one of `names`, with its data. Pings are answered, and other events left out.
    func next(of names: String...) throws -> (name: String, data: [String: Any]) {
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

    /// Waits until `_point` with these coordinates comes; nil stands for one without. Returns its data.
    @discardableResult
    func hear(x: Double?, from other: PointingPage) throws -> [String: Any] {
        while true {
            let data = try next(of: "_point").data
            if data["x"] as? Double == x, data["socketId"] as? String == other.id { return data }
        }
    }

    /// The events of these names that the host has sent since the last one that was read.
    func heard(_ name: String) throws -> [[String: Any]] {
        try client.send(event: "__clock", "{\"t\":1}")
        var all: [[String: Any]] = []
        while true {
            let (found, data) = try next(of: name, "_clock")
            if found == "_clock" { return all }
            all.append(data)
        }
    }

    /// What `other` has drawn, in order, up to the message with this `x`. Each place is `[x, y]`; an empty one stands
    /// for the beginning of another line.
    func lines(of other: PointingPage, untilX last: Double) throws -> [[Double]] {
        var steps: [[Double]] = []
        while true {
            let data = try next(of: "_point").data
            guard data["socketId"] as? String == other.id else { continue }
            steps += Self.path(data)
            if data["x"] as? Double == last { return steps }
        }
    }

    /// What a message says that was drawn.
    static func path(_ data: [String: Any]) -> [[Double]] {
        (data["path"] as? [Any] ?? []).map { step in (step as? [Any] ?? []).compactMap { $0 as? Double } }
    }
}
