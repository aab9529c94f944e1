import Foundation

/// The rooms of a host for programs: the JSON of `GET /api/rooms` and of the control socket's `rooms`
/// (`Protocol/openapi.yaml`). A later version may add fields.
public struct RoomsDocument: Codable, Sendable, Equatable {
    public var rooms: [Room]

    /// A room.
    public struct Room: Codable, Sendable, Equatable {
        public var name: String
        /// The room's links, as in the answer to `link`; nil over HTTP, where `GET /api/link` reports them. The
        /// signalling doesn't know under which addresses other machines reach the host.
        public var links: [String]?
        public var tracks: [Track]
        /// Everybody in the room, by whatever protocol, in order of arrival.
        public var members: [Member]
    }

    /// A track of a room.
    public struct Track: Codable, Sendable, Equatable {
        public var name: String
        /// `waiting`, `live`, `paused` or `gone`, as viewers are told.
        public var state: String
        /// An explanation of the state for people; may be empty.
        public var message: String
        /// How long the track has been in this state, in seconds.
        public var seconds: Double
    }

    /// A member of a room.
    public struct Member: Codable, Sendable, Equatable {
        /// The identifier that `kick` and the API accept. It isn't secret: it grants no access.
        public var id: String
        /// `viewer`, `client`, `player`, `caller` or `publisher`.
        public var kind: String
        /// The name that the member has chosen.
        public var name: String?
        /// The client's address.
        public var address: String
        /// How long the member has been in the room, in seconds.
        public var seconds: Double
        /// The tracks that the member watches or sends.
        public var tracks: [String]
        /// Whether the member is in the meeting.
        public var meeting: Bool
    }

    init(rooms: [Room]) {
        self.rooms = rooms
    }

    /// Parses a document from `json`.
    public init(json: String) throws(RoomsDocumentError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
        } catch {
            throw RoomsDocumentError()
        }
    }

    /// One line of JSON (RFC 8259).
    public var json: String { jsonLine }

    /// Returns the members that a person may mean by a name, an identifier, or the beginning of either. Case is
    /// ignored, but an exact match wins over one that differs in case, and that over one that only begins so.
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
}

/// The text that was read isn't such a document.
public struct RoomsDocumentError: Error, CustomStringConvertible {
    public var description: String { "the answer can't be understood; the host may be of another version" }
}
