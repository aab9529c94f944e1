import Foundation

/// The rooms of a host as programs read them: the JSON of `GET /api/rooms` and of the control socket's `rooms`
/// (`Protocol/openapi.yaml`). A later version may add names.
public struct RoomsDocument: Codable, Sendable, Equatable {
    public var rooms: [Room]

    /// A room.
    public struct Room: Codable, Sendable, Equatable {
        public var name: String
        public var tracks: [Track]
        /// Everybody who is in it, by whatever protocol, in the order in which they came.
        public var members: [Member]
    }

    /// A track of a room.
    public struct Track: Codable, Sendable, Equatable {
        public var name: String
        /// `waiting`, `live`, `paused` or `gone`, as viewers are told.
        public var state: String
        /// What there is to say of the state, for people; may be empty.
        public var message: String
        /// For how many seconds it has been so.
        public var seconds: Double
    }

    /// Somebody in a room.
    public struct Member: Codable, Sendable, Equatable {
        /// What `kick` and the API take. No secret: it lets nobody in.
        public var id: String
        /// `viewer`, `client`, `player`, `caller` or `publisher`.
        public var kind: String
        /// What it calls itself.
        public var name: String?
        /// The address that it came from.
        public var address: String
        /// For how many seconds it has been there.
        public var seconds: Double
        /// The tracks that it watches, or sends.
        public var tracks: [String]
        /// Whether it is seen by those who meet.
        public var meeting: Bool
    }

    /// The rooms as a server has told of them.
    public init(_ reports: [RoomReport]) {
        rooms = reports.map { Room($0) }
    }

    /// The document that `json` is.
    public init(json: String) throws(RoomsDocumentError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
        } catch {
            throw RoomsDocumentError()
        }
    }

    /// One line of JSON (RFC 8259).
    public var json: String { Self.json(self) }

    /// Who may be meant by a name, an identifier, or the beginning of either, as people type it: upper and lower case are the
    /// same, but who is called exactly that goes before those who are only called so in another case, or begin so.
    public func members(called who: String) -> [(room: String, member: Member)] {
        let all = rooms.flatMap { room in room.members.map { (room: room.name, member: $0) } }
        if who.isEmpty { return [] }
        let wanted = who.lowercased()
        let rules: [(Member) -> Bool] = [
            { $0.id == who }, { $0.name == who }, { $0.id.lowercased() == wanted || $0.name?.lowercased() == wanted },
            { $0.id.lowercased().hasPrefix(wanted) || $0.name?.lowercased().hasPrefix(wanted) == true },
        ]
        return rules.lazy.map { rule in all.filter { rule($0.member) } }.first { !$0.isEmpty } ?? []
    }

    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Nothing in it can fail: strings, and numbers that are finite.
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// What was read is no such document.
public struct RoomsDocumentError: Error, CustomStringConvertible {
    public var description: String { "the answer can't be understood; the host may be of another version" }
}

extension RoomsDocument.Room {
    init(_ report: RoomReport) {
        name = report.name
        tracks = report.tracks.map { track in
            RoomsDocument.Track(
                name: track.name, state: track.state.rawValue, message: track.message, seconds: track.age.inTenths)
        }
        members = report.visitors.map { visitor in
            RoomsDocument.Member(
                id: visitor.who.id, kind: visitor.who.kind.rawValue, name: visitor.who.name,
                address: visitor.who.address, seconds: visitor.age.inTenths, tracks: visitor.tracks,
                meeting: visitor.isMeeting)
        }
    }
}

extension Duration {
    /// Seconds, to the tenth.
    fileprivate var inTenths: Double { (self / .milliseconds(100)).rounded(.down) / 10 }
}
