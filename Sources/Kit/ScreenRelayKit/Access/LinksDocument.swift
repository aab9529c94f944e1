public import FoundationEssentials
import Signalling

/// A host's links for programs: the JSON of `GET /api/link`, of the control socket's `link`, and of the event `started`
/// (`Protocol/openapi.yaml`). Later versions may add fields.
public struct LinksDocument: Codable, Sendable, Equatable {
    /// The first room's links. The one for this network comes first.
    public var links: [String]
    /// The first room's name.
    public var room: String
    /// All rooms, the first one included.
    public var rooms: [Room]
    /// When the links expire, or nil if they last until the host ends.
    public var expires: Date?
    /// The SHA-256 fingerprint of the certificate that this machine made for itself, for people to compare, or nil if
    /// it has none.
    public var fingerprint: String?

    /// A room and its links.
    public struct Room: Codable, Sendable, Equatable {
        /// The room's name.
        public var name: String
        /// The invite links of the room. The one for this network comes first.
        public var links: [String]
        /// How to present in the room, or nil if no one may or the document leaves it out.
        public var presenting: Presenting?
    }

    /// How to present in a room.
    public struct Presenting: Codable, Sendable, Equatable {
        /// The link that opens the page for presenters.
        public var link: String
        /// The URL for the offer of a WHIP client.
        public var url: String
        /// The client's bearer token.
        public var token: String
    }

    /// Parses `json`. Nil if it is not such a document.
    public init?(json: String) {
        guard let document = try? Self(jsonLine: json) else { return nil }
        self = document
    }

    init(_ links: RoomLinks, expires: Date?, fingerprint: String? = nil, tellsPresenters: Bool) {
        self.fingerprint = fingerprint
        self.links = [links.first] + links.advertised
        self.expires = expires
        room = links.firstRoom
        rooms = []
        rooms = links.roomNames.map { name in
            Room(
                name: name,
                links: name == links.firstRoom ? self.links : [links.link(to: name)].compactMap { $0 },
                presenting: tellsPresenters ? links.presenting(in: name) : nil)
        }
    }

    /// The document as one line of JSON (RFC 8259).
    public var json: String { jsonLine }
}
