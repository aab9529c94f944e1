import Foundation
import Rooms

/// Reads SkyRTC's JSON from a client into room events.
///
/// `{"eventName": "__join", "data": {...}}`. Clients differ in small things, so a key of an unexpected type counts as left
/// out, numbers may be written as text, and names may have one underscore or two.
struct SkyRTCMessage: Decodable {
    private let eventName: String
    private let data: Payload?

    /// Decodes `text`, which the WebSocket's limit has bounded; nil if it isn't such a message.
    init?(_ text: String) {
        guard let message = try? JSONDecoder().decode(SkyRTCMessage.self, from: Data(text.utf8)) else { return nil }
        self = message
    }

    /// What the message means, coming from `member`.
    func event(from member: MemberID) -> RoomEvent {
        let name = eventName.drop { $0 == "_" }
        guard eventName.hasPrefix("_"), eventName.utf8.count - name.utf8.count <= 2 else { return .unknown(member) }
        let target = MemberID(data?.socketId ?? "")
        switch (name, data) {
        case ("join", _):
            return .join(member, RoomKey(data?.room ?? ""), data?.role == "viewer" ? .viewer : .peer)
        case ("offer", let data?):
            guard let sdp = data.sdp else { return .unknown(member) }
            return .offer(from: member, to: target, sdp: sdp)
        case ("answer", let data?):
            guard let sdp = data.sdp else { return .unknown(member) }
            return .answer(from: member, to: target, sdp: sdp)
        case ("ice_candidate", let data?):
            guard let candidate = data.candidate else { return .unknown(member) }
            let line = ICECandidate(candidate: candidate, mediaIndex: data.mediaIndex, mediaTag: data.mediaTag)
            return .candidate(from: member, to: target, line)
        default:
            return .unknown(member)
        }
    }

    /// The page's own stamp of a `__clock`; nil for any other message.
    var clockStamp: Double? {
        ["__clock", "_clock"].contains(eventName) ? data?.stamp : nil
    }

    private enum CodingKeys: CodingKey {
        case eventName, data
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        eventName = try container.decode(String.self, forKey: .eventName)
        data = try? container.decodeIfPresent(Payload.self, forKey: .data)
    }

    private struct Payload: Decodable {
        let room: String?
        let role: String?
        let socketId: String?
        let sdp: String?
        let candidate: String?
        let mediaIndex: Int?
        let mediaTag: String?
        let stamp: Double?

        enum CodingKeys: CodingKey {
            case room, role, socketId, sdp, candidate, label, id, sdpMLineIndex, sdpMid, t
        }

        struct Description: Decodable {
            let sdp: String
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) -> String? { try? container.decodeIfPresent(String.self, forKey: key) }
            func number(_ key: CodingKeys) -> Int? {
                (try? container.decodeIfPresent(Int.self, forKey: key)) ?? text(key).flatMap { Int($0) }
            }
            room = text(.room)
            role = text(.role)
            socketId = text(.socketId)
            sdp = (try? container.decodeIfPresent(Description.self, forKey: .sdp))?.sdp ?? text(.sdp)
            candidate = text(.candidate)
            mediaIndex = number(.label) ?? number(.sdpMLineIndex)
            mediaTag = text(.id) ?? text(.sdpMid)
            stamp = try? container.decodeIfPresent(Double.self, forKey: .t)
        }
    }
}

/// Writes the server's messages as SkyRTC's JSON.
struct SkyRTCReply: Encodable {
    private let eventName: String
    private let data: Payload

    private struct Payload: Encodable {
        var connections: [String]?
        var you: String?
        var host: String?
        var socketId: String?
        var sdp: Description?
        var candidate: String?
        var label: Int?
        var id: String?
        var sdpMLineIndex: Int?
        var sdpMid: String?
        var source: String?
        var since: Double?
        var message: String?
        var reason: String?
        var t: Double?
        var received: Int64?
        var sent: Int64?
    }

    private struct Description: Encodable {
        let type: String
        let sdp: String
    }

    init(_ message: RoomMessage) {
        var data = Payload()
        switch message {
        case .peers(let connections, let you, let host):
            eventName = "_peers"
            data.connections = connections.map(\.text)
            data.you = you.text
            data.host = host.text
        case .newPeer(let peer):
            eventName = "_new_peer"
            data.socketId = peer.text
        case .removePeer(let peer):
            eventName = "_remove_peer"
            data.socketId = peer.text
        case .offer(let sdp, let sender):
            eventName = "_offer"
            data.sdp = Description(type: "offer", sdp: sdp)
            data.socketId = sender.text
        case .answer(let sdp, let sender):
            eventName = "_answer"
            data.sdp = Description(type: "answer", sdp: sdp)
            data.socketId = sender.text
        case .candidate(let candidate, let sender):
            eventName = "_ice_candidate"
            data.candidate = candidate.candidate
            data.label = candidate.mediaIndex
            data.sdpMLineIndex = candidate.mediaIndex
            data.id = candidate.mediaTag
            data.sdpMid = candidate.mediaTag
            data.socketId = sender.text
        case .offerRefused(let host, let reason):
            eventName = "_refused"
            data.socketId = host.text
            data.reason = reason
        case .sessionEnded(let host, let reason):
            eventName = "_session_ended"
            data.socketId = host.text
            data.reason = reason
        }
        self.data = data
    }

    /// `_state`, to viewers: what the source has been for `microseconds`.
    init(_ state: SourceState, _ message: String, microseconds: Int) {
        eventName = "_state"
        let seconds = (Double(microseconds) / 1000).rounded() / 1000
        data = Payload(source: state.rawValue, since: seconds, message: message.isEmpty ? nil : message)
    }

    /// `_clock`: when the page's question with its stamp `t` was received, and when this goes out, both in microseconds.
    init(clockStamp t: Double, received: Int64, sent: Int64) {
        eventName = "_clock"
        data = Payload(t: t, received: received, sent: sent)
    }

    /// `_refused`, before the socket is closed.
    init(_ refusal: RoomRefusal) {
        eventName = "_refused"
        data = Payload(reason: refusal == .full ? "the room is full" : nil)
    }

    /// The message as it goes over the socket.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}
