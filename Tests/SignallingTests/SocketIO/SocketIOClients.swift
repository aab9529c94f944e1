import Foundation
import MediaSessions
import Signalling
import Synchronization
import TestSupport

/// A media side that makes offers, or doesn't, and notes what it is told.
final class CallingMedia: RoomMedia, SessionServer {
    struct State {
        var offersMade = 0
        var offersTaken: [String] = []
        var answers: [String] = []
        var candidates: [String] = []
        var closed: [UInt64] = []
        var offerRefusal: MediaSessionError?
        var answerRefusal: MediaSessionError?
        var ends: [@Sendable (String) -> Void] = []
    }

    static let offer = "v=0\r\ns=\"offer\"\r\n"
    static let answer = "v=0\r\ns=answer\r\n"

    let state = Mutex(State())
    var sessions: any SessionServer { self }

    func open(
        offer sdp: String, from client: String, onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> OpenedSession {
        let id = state.withLock { state in
            state.offersTaken.append(sdp)
            state.ends.append(onEnd)
            return MediaSessionID(rawValue: UInt64(state.ends.count))
        }
        return OpenedSession(id: id, answer: Self.answer, entityTag: "tag")
    }

    func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaSessionError) -> OfferedSession {
        let result = state.withLock { state -> Result<MediaSessionID, MediaSessionError> in
            if let refusal = state.offerRefusal { return .failure(refusal) }
            state.offersMade += 1
            state.ends.append(onEnd)
            return .success(MediaSessionID(rawValue: UInt64(state.ends.count)))
        }
        return OfferedSession(id: try result.get(), offer: Self.offer)
    }

    func accept(answer sdp: String, for session: MediaSessionID) throws(MediaSessionError) {
        let refusal = state.withLock { state in
            state.answers.append(sdp)
            return state.answerRefusal
        }
        if let refusal { throw refusal }
    }

    func close(_ session: MediaSessionID) {
        state.withLock { $0.closed.append(session.rawValue) }
    }

    func remoteCandidates(_ session: MediaSessionID, fragment: String) {
        state.withLock { $0.candidates.append(fragment) }
    }

    func snapshot(
        _ format: SnapshotFormat, isWanted: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (Result<SnapshotFile, SnapshotError>) -> Void
    ) {
        completion(.failure(.noPicture))
    }

    /// Ends the last session as if its viewer had gone silent.
    func endLast() {
        state.withLock { $0.ends.last }?("silent")
    }
}

/// A server on a port of its own with the room "desk", whose token is "secret", and a media side that makes offers.
func callingServer(
    _ media: CallingMedia = CallingMedia(), _ change: (inout SignallingConfiguration) -> Void = { _ in }
) throws -> RunningServer {
    try RunningServer(media: media, change)
}

/// A polling client of Engine.IO that opens a connection for each request.
struct PollingClient {
    let port: UInt16
    let version: Int
    let path: String
    /// The session's name.
    let name: String

    /// Shakes hands, and enters the namespace.
    init(_ server: borrowing RunningServer, version: Int) throws {
        port = server.port
        self.version = version
        let opening = "/socket.io/?EIO=\(version)&transport=polling&t=abc"
        let answer = try TestSocket(port: port).request("GET", opening)
        guard answer.status == 200, let greeting = Self.split(answer.text, version).first else {
            throw TestSocket.Failure(what: "status \(answer.status)")
        }
        let fields = try JSONSerialization.jsonObject(with: Data(greeting.dropFirst().utf8)) as? [String: Any]
        name = fields?["sid"] as? String ?? ""
        path = "\(opening)&sid=\(name)"
        if version == 4 {
            _ = try post(["40"])
            guard try poll().first?.hasPrefix("40{\"sid\":\"") == true else {
                throw TestSocket.Failure(what: "not connected")
            }
        }
    }

    /// What waits for the client, or comes next.
    func poll() throws -> [String] {
        Self.split(try TestSocket(port: port).request("GET", path).text, version)
    }

    /// A GET that nobody waits for yet.
    func beginPoll() throws -> TestSocket {
        let client = try TestSocket(port: port)
        try client.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        return client
    }

    func endPoll(_ client: TestSocket) throws -> [String] {
        Self.split(try client.response().text, version)
    }

    func post(_ packets: [String]) throws -> RawResponse {
        let body = version == 4 ? packets.joined(separator: "\u{1E}") : packets.map { "\($0.count):\($0)" }.joined()
        return try TestSocket(port: port).request("POST", path, ["Content-Type": "text/plain"], body: body)
    }

    /// The packets of an answer, which is ASCII.
    static func split(_ text: String, _ version: Int) -> [String] {
        guard version == 3 else { return text.split(separator: "\u{1E}").map(String.init) }
        var packets: [String] = []
        var rest = text[...]
        while let colon = rest.firstIndex(of: ":"), let count = Int(rest[..<colon]) {
            packets.append(String(rest[colon...].dropFirst().prefix(count)))
            rest = rest[colon...].dropFirst(count + 1)
        }
        return packets
    }
}

extension WebSocketClient {
    /// Opens a session over a WebSocket alone and enters the namespace.
    static func socketIO(_ server: borrowing RunningServer, version: Int) throws -> WebSocketClient {
        let parameter = version == 3 ? "" : "EIO=\(version)&"
        let client = try WebSocketClient(port: server.port, path: "/socket.io/?\(parameter)transport=websocket")
        guard case .text(let greeting) = try client.next(), greeting.hasPrefix("0{\"sid\":\"") else {
            throw TestSocket.Failure(what: "no greeting")
        }
        if version == 4 { try client.send("40") }
        guard case .text(let connected) = try client.next(), connected.hasPrefix("40") else {
            throw TestSocket.Failure(what: "not connected")
        }
        return client
    }

    /// The next packet of socket.io, which must be an event: its name and arguments.
    func nextEvent() throws -> [Any] {
        let frame = try next()
        guard case .text(let text) = frame, let event = SocketIOText.event(text) else {
            throw TestSocket.Failure(what: "\(frame) instead of an event")
        }
        return event
    }
}

/// Events of socket.io as text.
enum SocketIOText {
    /// The name and arguments of an event's packet; nil where it is none.
    static func event(_ packet: String) -> [Any]? {
        guard packet.hasPrefix("42") else { return nil }
        return try? JSONSerialization.jsonObject(with: Data(packet.dropFirst(2).utf8)) as? [Any]
    }

    static let join = "42[\"join\",\"desk,secret\"]"
}
