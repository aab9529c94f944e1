import ByteCoding
import MediaTypes
import Rooms
import Signalling
import SocketIORooms

/// One side of a one-to-one room on a socket.io server: the first member offers to the second when it joins.
struct PairConversation: Conversation {
    /// The other side; there is only one, whatever its identifier is.
    private static let other = "other"

    let room: String
    var calls = Calls()
    private let asked: EngineVersion
    private var engine: EngineClient
    private var state = PairState.left

    /// - Parameter version: the version of Engine.IO that the connection asked for.
    init(room: String, _ version: EngineVersion) {
        self.room = room
        asked = version
        engine = EngineClient(version, at: .zero)
    }

    var farewell: [String] { state.isInside ? [event("leave")] : [] }

    mutating func begin(at now: MonotonicTime) -> [Wish] {
        engine = EngineClient(asked, at: now)
        return []
    }

    mutating func take(_ text: String, at now: MonotonicTime) -> [Wish] {
        engine.take(text, at: now).flatMap { carryOut($0, now) }
    }

    mutating func poll(at now: MonotonicTime) -> [Wish] {
        engine.poll(at: now).flatMap { carryOut($0, now) } + calls.poll(at: now)
    }

    func offer(_ sdp: String, to member: String) -> String { message(.offer(sdp: sdp)) }
    func answer(_ sdp: String, to member: String) -> String { message(.answer(sdp: sdp)) }

    private func message(_ message: PairMessage) -> String {
        message.packets(room: room, alsoOtherJoined: false).map(EngineClient.event).joined()
    }

    private func event(_ name: String) -> String {
        let words = [name, room].map { JSONObject.quoted($0, isASCII: true) }
        return EngineClient.event(SocketPacket(.event, json: "[\(words.joined(separator: ","))]"))
    }

    private mutating func carryOut(_ step: EngineClient.Step, _ now: MonotonicTime) -> [Wish] {
        switch step {
        case .send(let text): return [.send(text)]
        case .connected: return [.send(event("join"))]
        case .fail(let reason): return [.fail(.broken(reason))]
        case .event(let json):
            guard let event = SocketIOEvent(json: json) else { return [] }
            if let notice = Self.notice(event.name) { return take(notice, now) }
            // Before it is inside, nobody there has anything to say to us.
            guard state.isInside else { return [] }
            switch event.pairEvent(from: MemberID(Self.other)) {
            case .offer(_, let sdp): return calls.offer(from: Self.other, sdp)
            case .answer(_, let sdp): return calls.answer(from: Self.other, sdp, at: now)
            case .candidate(_, let candidate): return calls.candidate(of: Self.other, candidate)
            default: return []
            }
        }
    }

    private static func notice(_ name: String) -> PairNotice? {
        name == "other_joined" ? .otherJoined : PairNotice.allCases.first { $0.event == name }
    }

    private mutating func take(_ notice: PairNotice, _ now: MonotonicTime) -> [Wish] {
        if notice == .full { return [.fail(.full)] }
        // A server may send a notice twice, under both of its names.
        guard state.take(notice) else { return [] }
        switch notice {
        case .joined: return [.joined]
        case .otherJoined: return calls.left(Self.other) + calls.came(Self.other, weOffer: true, at: now)
        case .bye: return calls.left(Self.other)
        case .left: return [.fail(.broken("the server took us out of the room"))]
        case .full: return []
        }
    }
}
