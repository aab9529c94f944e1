import Signalling

/// The pushes of a host for programs: the JSON of `GET /api/pushes` and of the control socket's `push-list`
/// (`Protocol/control.md`). Later versions may add fields.
public struct PushesDocument: Codable, Sendable, Equatable {
    /// The pushes in the order of their numbers, including those that have ended.
    public var pushes: [Push]

    /// A push of a track to a server or file. The status of a host leaves its rates and counts out.
    public struct Push: Codable, Sendable, Equatable {
        /// The push's number.
        public var id: Int
        /// The name of its group in the settings file; nil without one.
        public var name: String?
        /// The track that its URL names, `NAME` or `ROOM/NAME`; nil for the first track.
        public var track: String?
        /// Its URL without the key, or the address of its stream object.
        public var to: String
        /// `unknown`, `waiting`, `connecting`, `connected`, `disconnecting`, `disconnected`, `error` or
        /// `autoReconnecting`.
        public var state: String
        /// Why it has failed or tries again.
        public var reason: String?
        /// Pictures sent per second, over the last 3 s; nil while it isn't connected, like all fields below.
        public var picturesPerSecond: Int?
        /// Audio packets sent per second, over the last 3 s.
        public var soundPerSecond: Int?
        /// Bits sent per second, over the last 3 s.
        public var bitsPerSecond: Int?
        /// How long the oldest frame in the send queue has waited, in milliseconds.
        public var queueMilliseconds: Int64?
        /// The bytes in the send queue.
        public var queueBytes: Int?
        /// The pictures that this connection has sent.
        public var sentPictures: Int?
        /// The pictures that this connection has dropped.
        public var droppedPictures: Int?
        /// The audio packets that this connection has sent, including silence.
        public var sentSound: Int?
        /// The audio packets of the source that this connection has dropped.
        public var droppedSound: Int?

        /// A push that isn't connected.
        public init(
            id: Int, name: String? = nil, track: String? = nil, to: String, state: String, reason: String? = nil
        ) {
            self.id = id
            self.name = name
            self.track = track
            self.to = to
            self.state = state
            self.reason = reason
        }
    }

    /// A document with these pushes.
    public init(pushes: [Push]) {
        self.pushes = pushes
    }

    /// Parses `json`. Nil if it is not such a document.
    public init?(json: String) {
        guard let document = try? Self(jsonLine: json) else { return nil }
        self = document
    }

    /// The document as one line of JSON (RFC 8259).
    public var json: String { jsonLine }
}
