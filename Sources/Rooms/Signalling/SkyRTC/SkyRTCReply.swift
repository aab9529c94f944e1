import MediaTypes
import Rooms

/// Encodes the server's messages as SkyRTC's JSON.
struct SkyRTCReply: Encodable {
    private let eventName: String
    private let data: Payload

    private struct Payload: Encodable {
        var connections: Connections?
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
        var steady: Bool?
        var sound: String?
        var reason: String?
        var code: WebSocketConnection.CloseCode?
        var password: Bool?
        var name: String?
        var track: String?
        var tracks: [TrackSummary]?
        var page: String?
        var resume: String?
        var watching: [String]?
        var iceServers: [ClientICEServer]?
        var turn: String?
        var turnLeft: Int?
        var turnWait: Int?
        var camera: CameraFormat?
        var pointing: Bool?
        var on: Bool?
        var locked: Bool?
        var count: Int?
        var members: [Member]?
        var t: Double?
        var received: Int64?
        var sent: Int64?
        var waited: Int64?
        var x: Double?
        var y: Double?
        var path: [PicturePlace?]?
        var number: Int?
        var last: Int?
        var kept: Int?
        var messages: [ChatMessage]?
        var chat: ChatSummary?
    }

    private struct Description: Encodable {
        let type: String
        let sdp: String
    }

    private struct Member: Encodable {
        let socketId: String
        let name: String?
        var meeting: Bool?
        var turn: String?
    }

    /// Identifiers in SkyRTC's `_peers`; members in `_meeting`, our extension.
    private enum Connections: Encodable {
        case identifiers([String])
        case members([Member])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .identifiers(let identifiers): try container.encode(identifiers)
            case .members(let members): try container.encode(members)
            }
        }
    }

    /// Creates a message of a room. The other values are for `_peers`: `tracks` are the tracks that a newcomer can
    /// watch, `page` is the version of our page, `iceServers` are the servers by which it may reach the others,
    /// `resumption` is the secret of a viewer who breaks off, `watching` are the tracks of which one who has gone on
    /// still has a session, `turn` is a viewer's turn to present, `camera` is what a viewer's page asks of a camera,
    /// `pointing` is whether viewers may point, and `chat` is the state of the chat, if viewers may write.
    init(
        _ message: RoomMessage, tracks: [TrackSummary] = [], page: String? = nil, iceServers: [ClientICEServer] = [],
        resumption: String? = nil, watching: [TrackName]? = nil, turn: TurnReport? = nil, camera: CameraFormat? = nil,
        pointing: Bool = false, chat: ChatSummary? = nil
    ) {
        (eventName, data) =
            switch message {
            case .peers(let connections, let you, let host):
                (
                    "_peers",
                    Payload(
                        connections: .identifiers(connections.map(\.text)), you: you.text, host: host.text,
                        tracks: tracks, page: page, resume: resumption, watching: watching?.map(\.text),
                        iceServers: iceServers.isEmpty ? nil : iceServers, turn: turn?.word,
                        turnLeft: turn?.secondsLeft, turnWait: turn?.secondsToWait, camera: camera,
                        pointing: pointing ? true : nil, chat: chat)
                )
            case .newPeer(let peer, let name): ("_new_peer", Payload(socketId: peer.text, name: name))
            case .removePeer(let peer): ("_remove_peer", Payload(socketId: peer.text))
            case .offer(let sdp, let sender):
                ("_offer", Payload(socketId: sender.text, sdp: Description(type: "offer", sdp: sdp)))
            case .answer(let sdp, let sender, let track):
                (
                    "_answer",
                    Payload(socketId: sender.text, sdp: Description(type: "answer", sdp: sdp), track: track?.text)
                )
            case .candidate(let candidate, let sender):
                (
                    "_ice_candidate",
                    Payload(
                        socketId: sender.text, candidate: candidate.candidate, label: candidate.mediaIndex,
                        id: candidate.mediaTag, sdpMLineIndex: candidate.mediaIndex, sdpMid: candidate.mediaTag)
                )
            case .meeting(let others):
                (
                    "_meeting",
                    Payload(
                        connections: .members(others.map { Member(socketId: $0.id.text, name: $0.name) }), on: true)
                )
            case .notMeeting(let reason):
                ("_meeting", Payload(connections: .members([]), reason: reason, on: false))
            case .offerRefused(let host, let reason, let track):
                ("_refused", Payload(socketId: host.text, reason: reason, track: track?.text))
            case .sessionEnded(let host, let reason, let track):
                ("_session_ended", Payload(socketId: host.text, reason: reason, track: track?.text))
            }
    }

    /// `_state`, to viewers: the state of a track's source, which has lasted for `age`, and whether the source is never
    /// silent. `track` is given if the room has had several.
    init(_ state: SourceState, age: Interval, isSteady: Bool = false, track: TrackName? = nil) {
        eventName = "_state"
        let seconds = (age.seconds * 1000).rounded() / 1000
        let message = state.message
        data = Payload(
            source: state.word, since: seconds, message: message.isEmpty ? nil : message,
            steady: isSteady ? true : nil, track: track?.text)
    }

    /// `_sound`, to viewers: whether a track can be heard. `track` is given if the room has had several.
    init(_ sound: AudioState, track: TrackName? = nil) {
        eventName = "_sound"
        data = Payload(sound: sound.rawValue, track: track?.text)
    }

    /// `_clock`: the time at which the page's request with its stamp `t` was received, and the time of sending this,
    /// both in microseconds. `waited` is the age of changes when they are captured, if that is known.
    init(clockStamp t: Double, received: Int64, sent: Int64, waited: Interval?) {
        eventName = "_clock"
        data = Payload(t: t, received: received, sent: sent, waited: waited.map { $0.nanoseconds / 1000 })
    }

    /// `_frames`: the pictures of `track` begin on this WebSocket.
    init(frames track: TrackName) {
        eventName = "_frames"
        data = Payload(track: track.text)
    }

    /// `_tracks`, to viewers: the tracks that exist now.
    init(tracks: [TrackSummary]) {
        eventName = "_tracks"
        data = Payload(tracks: tracks)
    }

    /// `_people`, to viewers: the number of people in the room, and some of them by name.
    init(people: [MemberDescription], count: Int) {
        eventName = "_people"
        data = Payload(
            count: count,
            members: people.map {
                Member(socketId: $0.id.text, name: $0.name, meeting: $0.isMeeting ? true : nil)
            })
    }

    /// `_turn`, to a viewer: its turn to present has changed, or it may not ask for it yet.
    init(turn: TurnReport) {
        eventName = "_turn"
        data = Payload(turn: turn.word, turnLeft: turn.secondsLeft, turnWait: turn.secondsToWait)
    }

    /// `_turns`, to a viewer that may present: the members whose turns it decides about.
    init(turns: [(id: MemberID, name: String?, turn: String?)]) {
        eventName = "_turns"
        data = Payload(members: turns.map { Member(socketId: $0.id.text, name: $0.name, turn: $0.turn) })
    }

    /// `_pointing`, to viewers: whether they may point at the pictures.
    init(allowsPointing: Bool) {
        eventName = "_pointing"
        data = Payload(pointing: allowsPointing)
    }

    /// `_point`, to viewers: where a member points, or that it no longer does, and what it has drawn.
    init(_ pointed: PointedPlace, path: [PicturePlace?]) {
        let isEnd = pointed.place == nil && path.isEmpty
        eventName = "_point"
        data = Payload(
            socketId: pointed.member.text, name: isEnd ? nil : pointed.name, track: isEnd ? nil : pointed.track?.text,
            x: pointed.place?.x, y: pointed.place?.y, path: path.isEmpty ? nil : path)
    }

    /// `_chat`, to viewers: the state of the room's chat, or nil if no one may write, and messages.
    init(chat: ChatSummary?, messages: [ChatMessage] = []) {
        eventName = "_chat"
        data = Payload(last: chat?.last, kept: chat?.kept, messages: messages.isEmpty ? nil : messages)
    }

    /// `_chat_refused`, to a viewer whose message, to which it gave `number`, wasn't passed on.
    init(chatRefusal reason: ChatRefusal, number: Int?) {
        eventName = "_chat_refused"
        data = Payload(reason: reason.rawValue, number: number)
    }

    /// `_waiting`, to a client that waits until it is let in.
    static var waiting: SkyRTCReply { SkyRTCReply("_waiting", Payload()) }

    /// `_door`, to an owner: whether the room is locked and, in a room with a waiting room, who waits to be let in.
    init(_ door: RoomDoor) {
        eventName = "_door"
        let members = door.waiting.map { Member(socketId: $0.member.text, name: $0.name) }
        data = Payload(locked: door.isLocked, members: door.hasWaitingRoom ? members : nil)
    }

    private init(_ eventName: String, _ data: Payload) {
        self.eventName = eventName
        self.data = data
    }

    /// `_refused`, before the socket is closed.
    init(_ refusal: RoomRefusal) {
        eventName = "_refused"
        switch refusal {
        case .notAdmitted: data = Payload()
        case .needsPassword: data = Payload(password: true)
        case .full: data = Payload(reason: "the room is full", code: .full)
        case .expired: data = Payload(reason: "this invite link has expired", code: .expired)
        case .locked: data = Payload(reason: "the room is locked", code: .locked)
        case .turnedAway: data = Payload(reason: "you were not let in", code: .turnedAway)
        }
    }

    /// `_refused`, before the socket is closed, with a reason for people.
    init(refusal reason: String) {
        eventName = "_refused"
        data = Payload(reason: reason)
    }

    /// The message as it is sent over the socket.
    var text: String { jsonLine }
}

/// A track as described to clients.
struct TrackSummary: Encodable {
    let name: String
    let source: String
    /// Its tag; nil values are left out.
    let text: String?
    let data: JSONValue?
}
