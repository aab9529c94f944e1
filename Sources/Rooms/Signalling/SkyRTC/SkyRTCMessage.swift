import FoundationEssentials
package import Rooms

/// Parses SkyRTC's JSON from a client into room events, and from an external server into news of its room.
///
/// `{"eventName": "__join", "data": {...}}`. Clients differ in details: a key with a value of the wrong type counts as
/// missing, numbers may be written as text, and names may have one underscore or two.
package struct SkyRTCMessage: Decodable {
    private let eventName: String
    private let data: Payload?

    /// Decodes `text`, whose size the WebSocket has limited; nil if it isn't such a message.
    package init?(_ text: String) {
        guard let message = try? JSONDecoder().decode(SkyRTCMessage.self, from: Data(text.utf8)) else { return nil }
        self = message
    }

    /// Returns the event that the message stands for, coming from `member`.
    func event(from member: MemberID) -> RoomEvent {
        let name = eventName.drop { $0 == "_" }
        guard eventName.hasPrefix("_"), eventName.utf8.count - name.utf8.count <= 2 else { return .unknown(member) }
        let target = MemberID(data?.socketId ?? "")
        // An invalid track name must not be taken to mean the first track.
        guard data?.track == nil || data?.trackName != nil else { return .unknown(member) }
        switch (name, data) {
        case ("join", _):
            let role: MemberRole = data?.role == "viewer" ? .viewer : .peer
            var key = RoomKey(data?.room ?? "")
            if let password = data?.password { key.password = password }
            return .join(member, key, role, name: data?.name)
        case ("meet", let data?):
            guard let isOn = data.isOn else { return .unknown(member) }
            return .meet(member, isOn)
        case ("offer", let data?):
            guard let sdp = data.sdp else { return .unknown(member) }
            return .offer(from: member, to: target, sdp: sdp, track: data.trackName)
        case ("frames", _):
            return .frames(member, data?.trackName)
        case ("answer", let data?):
            guard let sdp = data.sdp else { return .unknown(member) }
            return .answer(from: member, to: target, sdp: sdp)
        case ("ice_candidate", let data?):
            guard let candidate = data.candidate else { return .unknown(member) }
            let line = ICECandidate(candidate: candidate, mediaIndex: data.mediaIndex, mediaTag: data.mediaTag)
            return .candidate(from: member, to: target, line, track: data.trackName)
        case ("hold", let data?):
            guard let delay = data.delay else { return .unknown(member) }
            return .setPlayoutDelay(member, milliseconds: delay, data.trackName)
        case ("unwatch", _):
            return .unwatch(member, data?.trackName)
        default:
            return .unknown(member)
        }
    }

    /// The message's news for a member of a room; nil for any other message.
    package var news: SkyRTCNews? {
        let name = eventName.drop { $0 == "_" }
        guard eventName.hasPrefix("_"), eventName.utf8.count - name.utf8.count <= 2 else { return nil }
        // The texts of clients call it `_peer`, too.
        if name == "peers" || name == "peer" { return .peers(data?.connections ?? [], you: data?.you) }
        if name == "waiting" { return .waiting }
        guard let data, let peer = data.socketId, !peer.isEmpty else { return nil }
        switch name {
        case "new_peer": return .newPeer(peer)
        case "remove_peer": return .removePeer(peer)
        case "offer": return data.sdp.map { .offer(from: peer, sdp: $0) }
        case "answer": return data.sdp.map { .answer(from: peer, sdp: $0) }
        case "ice_candidate":
            return data.candidate.map {
                .candidate(
                    from: peer, ICECandidate(candidate: $0, mediaIndex: data.mediaIndex, mediaTag: data.mediaTag))
            }
        default: return nil
        }
    }

    /// The page's own timestamp in a `__clock` message; nil for any other message.
    var clockStamp: Double? {
        ["__clock", "_clock"].contains(eventName) ? data?.stamp : nil
    }

    /// The secret of a `__join` with which the member goes on that it was before; nil if there is none.
    var resumption: String? { data?.resumption }

    /// The message's request about the turn to present; nil for any other message.
    var turnRequest: TurnRequest? {
        guard ["__turn", "_turn"].contains(eventName), let action = data?.action else { return nil }
        return TurnRequest(action: action, target: MemberID(data?.socketId ?? ""))
    }

    /// The message's request about the viewer's dot and lines; nil for any other message, and for one with a place
    /// outside the picture or too long a path.
    var pointRequest: PointRequest? {
        guard ["__point", "_point"].contains(eventName), let data, data.track == nil || data.trackName != nil else {
            return nil
        }
        guard data.hasPlace || data.hasPath else { return .stop }
        guard let x = data.x, let y = data.y, let place = PicturePlace(x: x, y: y), !data.hasPath || data.path != nil
        else { return nil }
        return .show(place, path: data.path?.steps ?? [], data.trackName)
    }

    /// The message's request about the chat; nil for any other message.
    var chatRequest: ChatRequest? {
        guard ["__chat", "_chat"].contains(eventName), let data else { return nil }
        if let text = data.message { return .write(text, number: data.number) }
        return data.after.map { .read(after: $0) }
    }

    /// The secret of a `__join` that the member had during its visit before this one; nil if there is none.
    var formerVisit: String? { data?.former }

    /// The message's request about the room's door; nil for any other message.
    var doorRequest: DoorRequest? {
        guard ["__door", "_door"].contains(eventName), let action = data?.action else { return nil }
        return DoorRequest(action: action, target: data?.socketId)
    }

    /// The message's reply about the pictures on this WebSocket; nil for any other message.
    var frameReply: FrameReply? {
        guard eventName.hasPrefix("_") else { return nil }
        return switch eventName.drop(while: { $0 == "_" }) {
        case "frames_seen": data?.number.flatMap { UInt32(exactly: $0) }.map { .seen($0) }
        case "frames_key": .needsKeyPicture
        case "frames_sound": data?.isOn.map { .wantsSound($0) }
        case "frames_heard": data?.number.flatMap { UInt32(exactly: $0) }.map { .heard($0) }
        case "frames_stop": .stop
        default: nil
        }
    }

    private enum CodingKeys: CodingKey {
        case eventName, data
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        eventName = try container.decode(String.self, forKey: .eventName)
        data = try? container.decodeIfPresent(Payload.self, forKey: .data)
    }

    private struct Payload: Decodable {
        let room: String?
        let role: String?
        let password: String?
        let socketId: String?
        let sdp: String?
        let candidate: String?
        let mediaIndex: Int?
        let mediaTag: String?
        let name: String?
        let track: String?
        let isOn: Bool?
        let stamp: Double?
        /// In milliseconds.
        let delay: Int?
        let resumption: String?
        let former: String?
        let connections: [String]?
        let you: String?
        let number: Int?
        let action: String?
        let x: Double?
        let y: Double?
        let message: String?
        let after: Int?
        /// Whether there is an `x` or a `y`, even of a wrong type.
        let hasPlace: Bool
        let path: PenPath?
        /// Whether there is a `path`, even of a wrong type.
        let hasPath: Bool

        var trackName: TrackName? { track.flatMap { TrackName($0) } }

        enum CodingKeys: String, CodingKey {
            case room, role, password, socketId, sdp, candidate, label, id, sdpMLineIndex, sdpMid, name, track, t,
                delay, number, connections, you, action, x, y, path, former, after
            case isOn = "on"
            case message = "text"
            case resumption = "resume"
        }

        struct Description: Decodable {
            let sdp: String
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            room = container.text(.room)
            role = container.text(.role)
            password = container.text(.password)
            socketId = container.text(.socketId)
            sdp = (try? container.decodeIfPresent(Description.self, forKey: .sdp))?.sdp ?? container.text(.sdp)
            candidate = container.text(.candidate)
            mediaIndex = container.number(.label) ?? container.number(.sdpMLineIndex)
            mediaTag = container.text(.id) ?? container.text(.sdpMid)
            name = container.text(.name)
            track = container.text(.track)
            isOn = try? container.decodeIfPresent(Bool.self, forKey: .isOn)
            delay = container.number(.delay)
            resumption = container.text(.resumption)
            former = container.text(.former)
            connections = try? container.decodeIfPresent([String].self, forKey: .connections)
            you = container.text(.you)
            number = container.number(.number)
            action = container.text(.action)
            stamp = try? container.decodeIfPresent(Double.self, forKey: .t)
            x = try? container.decodeIfPresent(Double.self, forKey: .x)
            y = try? container.decodeIfPresent(Double.self, forKey: .y)
            message = container.text(.message)
            after = container.number(.after)
            hasPlace = container.contains(.x) || container.contains(.y)
            path = try? container.decodeIfPresent(PenPath.self, forKey: .path)
            hasPath = container.contains(.path)
        }
    }
}

/// A SkyRTC server's notification to a member of one of its rooms.
package enum SkyRTCNews: Sendable, Equatable {
    /// `_peers`: the members that were there first, to whom this one offers, and its own identifier.
    case peers([String], you: String?)
    /// `_waiting`: this one has to wait until it is let in.
    case waiting
    /// `_new_peer`: another member has joined, and will offer.
    case newPeer(String)
    case removePeer(String)
    case offer(from: String, sdp: String)
    case answer(from: String, sdp: String)
    case candidate(from: String, ICECandidate)
}

/// Clients differ in details, so a value of the wrong type counts as missing, and a number may be written as text.
extension KeyedDecodingContainer {
    func text(_ key: Key) -> String? { try? decodeIfPresent(String.self, forKey: key) }
    func number(_ key: Key) -> Int? {
        (try? decodeIfPresent(Int.self, forKey: key)) ?? text(key).flatMap { Int($0) }
    }
}
