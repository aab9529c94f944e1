import MediaSessions
import MediaTypes

/// The rooms of a host for programs: the JSON of `GET /api/rooms` and of the control socket's `rooms`
/// (`Protocol/openapi.yaml`). A later version may add fields.
public struct RoomsDocument: Codable, Sendable, Equatable {
    /// All rooms.
    public var rooms: [Room]

    /// A room.
    public struct Room: Codable, Sendable, Equatable {
        /// The room's name.
        public var name: String
        /// The room's links, as in the answer to `link`; nil over HTTP, where `GET /api/link` reports them. The
        /// signalling doesn't know under which addresses other machines reach the host.
        public var links: [String]?
        /// The room's tracks.
        public var tracks: [Track]
        /// All participants of the room, over any protocol, in order of arrival.
        public var members: [Member]
        /// Whether newcomers are refused.
        public var locked: Bool?
        /// The clients that wait to be let in, in order of arrival; nil if the room has no waiting room.
        public var waiting: [Waiting]?
    }

    /// A client that waits to be let into a room.
    public struct Waiting: Codable, Sendable, Equatable {
        /// The identifier that `screenrelay admit` and the API accept. It isn't secret: it grants no access.
        public var id: String
        /// The name that the client has chosen, which may be any text.
        public var name: String?
        /// The client's address.
        public var address: String
        /// How long the client has been waiting, in seconds.
        public var seconds: Double
    }

    /// A track of a room.
    public struct Track: Codable, Sendable, Equatable {
        /// The track's name.
        public var name: String
        /// `waiting`, `live`, `paused` or `gone`, as announced to viewers.
        public var state: String
        /// An explanation of the state for people; may be empty.
        public var message: String
        /// How long the track has been in this state, in seconds.
        public var seconds: Double
        /// The text of its tag, for people.
        public var text: String?
        /// The value of its tag, for programs.
        public var data: JSONValue?
    }

    /// A member of a room.
    public struct Member: Codable, Sendable, Equatable {
        /// The identifier that `screenrelay remove` and the API accept. It isn't secret: it grants no access.
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
        /// `asked` if the member has asked to present from the page, `granted` if it may present until its turn ends,
        /// `owner` if it may by the presenters' token; nil otherwise.
        public var turn: String?
        /// The network paths of the tracks that the member watches; nil if nothing is sent to the member.
        public var paths: [Path]?
    }

    /// The path along which a member gets one track. The figures are at most about a second old.
    public struct Path: Codable, Sendable, Equatable {
        /// The track's name.
        public var track: String
        /// The IP address that the pictures go to; nil before there is one.
        public var address: String?
        /// The transport of the pictures to that address, `udp` or `tcp`; nil like `address`.
        public var transport: String?
        /// Which encoding of the track is sent: `full`, or `narrow` with fewer pictures, for a slow path.
        public var rung: String
        /// The estimated bit rate of the path, in bits per second; nil if the member's program sends no feedback for an
        /// estimate.
        public var estimateBitsPerSecond: Int?
        /// How long packets wait on the path at present, in nanoseconds; nil like `estimateBitsPerSecond`.
        public var queueNanoseconds: Int64?
        /// The fault for which the receiver reports of the member's program are ignored; nil if there is none.
        public var reportFault: String?
        /// The last measured round trip, in nanoseconds; nil before the first one.
        public var roundTripNanoseconds: Int64?
        /// Pictures sent completely.
        public var pictures: Int
        /// RTP packets sent, including those sent again without RTX.
        public var packets: Int
        /// RTP packets sent again over RTX.
        public var retransmittedPackets: Int
        /// Packets that the member has missed, whether or not they arrived later; nil before its first report.
        public var lostPackets: Int?

        init(_ statistics: PeerStatistics, track: String) {
            self.track = track
            address = statistics.address
            transport = statistics.transport?.rawValue
            rung = statistics.getsLowLayer ? "narrow" : "full"
            estimateBitsPerSecond = statistics.estimate?.bitsPerSecond
            queueNanoseconds = statistics.queueDelay?.nanoseconds
            reportFault = statistics.reportFault
            roundTripNanoseconds = statistics.roundTripTime?.nanoseconds
            pictures = statistics.framesSent
            packets = statistics.sentPackets
            retransmittedPackets = statistics.retransmittedPackets
            lostPackets = statistics.lostPackets
        }
    }

    init(rooms: [Room]) {
        self.rooms = rooms
    }

    /// Parses a document from `json`. Throws ``RoomsDocumentError`` if it isn't one.
    public init(json: String) throws(RoomsDocumentError) {
        do {
            self = try Self(jsonLine: json)
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

extension RoomsDocument {
    /// Returns the clients that wait to be let in and have exactly this identifier or, if there is none, this name. So
    /// no one is let in whose name only resembles the one that is meant; a name that several have returns them all.
    public func waiting(called who: String) -> [(room: String, client: Waiting)] {
        let all = rooms.flatMap { room in (room.waiting ?? []).map { (room: room.name, client: $0) } }
        let identified = all.filter { $0.client.id == who }
        return identified.isEmpty ? all.filter { $0.client.name == who } : identified
    }
}

/// The text that was read isn't such a document.
public struct RoomsDocumentError: Error, CustomStringConvertible {
    public var description: String { "the answer can't be understood; the host may be of another version" }
}
