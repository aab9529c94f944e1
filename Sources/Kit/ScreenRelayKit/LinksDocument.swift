public import Foundation

/// The links of a host as programs read them: the JSON of `GET /api/link`, of the control socket's `link`, and of the event
/// `started` (`Protocol/openapi.yaml`). A later version may add names.
public struct LinksDocument: Codable, Sendable, Equatable {
    /// The first room's, the one for this network first.
    public var links: [String]
    /// The first room.
    public var room: String
    public var rooms: [Room]
    /// When the links end; nil: when the host does.
    public var expires: Date?

    /// A room and how to get into it.
    public struct Room: Codable, Sendable, Equatable {
        public var name: String
        public var links: [String]
        /// What somebody needs who is to present there; nil where nobody may, or that isn't told.
        public var presenting: Presenting?
    }

    /// How to present in a room by WHIP.
    public struct Presenting: Codable, Sendable, Equatable {
        /// Where to send an offer.
        public var url: String
        /// The Bearer token.
        public var token: String
    }

    /// The document that `json` is; nil where it is none.
    public init?(json: String) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard let document = try? decoder.decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = document
    }

    init(_ links: RoomLinks, expires: Date?, tellsPresenters: Bool) {
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

    /// One line of JSON (RFC 8259).
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        // Nothing in it can fail: strings and a date.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
