public import CaptureLink
public import FoundationEssentials
import Glibc
import Ingest
import MediaSessions
import MediaTypes
import RecordingFiles
import Signalling
import TrackHub

/// The state of a host for programs: the JSON of `GET /api/status` and of the control socket's `status`
/// (`Protocol/control.md`). `screenrelay status` formats it for people. Later versions may add fields.
public struct StatusDocument: Codable, Sendable, Equatable {
    /// The host's process id.
    public var process: Int32 = 0
    /// The state of the first track's source: `waiting`, `live`, `paused`, `locked`, `hidden` or `gone`.
    public var state = "waiting"
    /// What the host does, such as "sharing :0": the first 256 Unicode scalars.
    public var what = ""
    /// What sends the pictures of the first track: `capture`, or `source` for a source that the host reads.
    public var source = "capture"
    /// The name of the first room.
    public var room = ""
    /// The viewers of all tracks. A viewer of two tracks counts twice.
    public var viewers = 0
    /// Whether the sharer has muted the sound.
    public var muted = false
    /// Whether the sharer has muted the microphone.
    public var microphoneMuted = false
    /// Whether viewers may point at the pictures.
    public var pointing = true
    /// Whether viewers may write in the chat.
    public var chat = true
    /// The number of viewers who get fewer pictures, because their paths can't carry all.
    public var narrowViewers = 0
    /// The paths of the first of them, at most ``narrowPathLimit``; nil if there are none.
    public var narrowPaths: [NarrowPath]?
    /// The number of viewers who get their pictures over TCP.
    public var tcpViewers = 0
    /// How late a media thread makes viewers, in nanoseconds.
    public var mediaLagNanoseconds: Int64 = 0
    /// Whether new viewers are refused because all media threads are late.
    public var overloaded = false
    /// The invite links of the first room. The one for this network comes first.
    public var links: [String] = []
    /// When the invite links expire; nil if they last until the host ends.
    public var expires: Date?
    /// The SHA-256 fingerprint of the certificate that this machine made for itself; nil if it has none.
    public var fingerprint: String?
    /// Where `/api` is; nil if there is none.
    public var api: API?
    /// The highest frame rate, in frames per second; nil if it is not limited.
    public var maxPicturesPerSecond: Int?
    /// The highest bit rate, in bits per second; nil if it is not limited.
    public var maxBitsPerSecond: Int?
    /// The names of those of the two limits that no source keeps to; nil if there are none.
    public var ignoredLimits: [String]?
    /// The round trip to a capture over TCP, in nanoseconds; nil for other captures.
    public var roundTripNanoseconds: Int64?
    /// How far the clock of a capture over TCP is ahead of the host's, in nanoseconds; nil for other captures.
    public var clockOffsetNanoseconds: Int64?
    /// The recording of the first track; nil if it has none.
    public var recording: Recording?
    /// The names of the locked rooms, at most 16.
    public var locked: [String] = []
    /// The number of clients that wait to be let in, in all rooms.
    public var waiting = 0
    /// The first of these clients, at most 8; nil if there are none.
    public var waitingClients: [Waiting]?
    /// The number of tracks in all rooms.
    public var trackCount = 0
    /// The tracks of all rooms, the first one first, at most 16.
    public var tracks: [Track] = []
    /// The rooms of other servers that the host is a member of, at most ``serverLimit``; nil if the host can't join
    /// any.
    public var joins: [Join]?
    /// The pushes that weren't stopped, those that aren't connected first, at most ``serverLimit``, without their
    /// rates; nil if there are none.
    public var pushes: [PushesDocument.Push]?
    /// The time that pictures take for each stage of their way, by the stage's name. A stage without pictures is left
    /// out.
    public var stages: [String: Stage] = [:]
    /// What the first track's capture has reported of its work; nil before the first report.
    public var capture: CaptureStatistics?

    /// The most joins, and the most pushes, that are reported.
    public static let serverLimit = 8
    /// The most paths of viewers who get fewer pictures that are reported.
    public static let narrowPathLimit = 8
    private static let trackLimit = 16
    private static let lockedLimit = 16
    private static let waitingLimit = 8
    /// The most Unicode scalars of a text, so that a document stays within its limit however long a window's title is.
    private static let textLimit = 256
    /// The longest path of a file on Linux, in bytes.
    private static let pathLimit = 4096

    /// The status of a host that has done nothing.
    public init() {}

    /// Parses `json`. Nil if it is not such a document.
    public init?(json: String) {
        guard let document = try? Self(jsonLine: json) else { return nil }
        self = document
    }

    /// The document as one line of JSON (RFC 8259).
    public var json: String { jsonLine }

    /// The status of `host`, without what only the program knows: `what`, `source`, `joins` and `pushes`.
    init(of host: ScreenRelayHost) {
        process = getpid()
        room = host.room
        addSharing(of: host)
        addTracks(of: host)
        addPaths(of: host)
        addAccess(to: host)
        addDoors(of: host)
    }

    /// Whether the host is paused, muted or limited, and how.
    private mutating func addSharing(of host: ScreenRelayHost) {
        state = host.firstTrack.sourceState.word
        muted = host.isMuted
        microphoneMuted = host.isMicrophoneMuted
        pointing = host.allowsPointing
        chat = host.allowsChat
        maxPicturesPerSecond = host.limits.frameRate.map { Int($0.millihertz / 1000) }
        maxBitsPerSecond = host.limits.bitRate?.bitsPerSecond
        let ignored = host.ignored(of: host.limits)
        let names = [
            ignored.contains(.frameRate) ? CodingKeys.maxPicturesPerSecond : nil,
            ignored.contains(.bitRate) ? CodingKeys.maxBitsPerSecond : nil,
        ]
        ignoredLimits = ignored.isEmpty ? nil : names.compactMap { $0?.stringValue }
        capture = host.firstTrack.captureStatistics
        roundTripNanoseconds = host.firstTrack.sourceTiming?.roundTrip.nanoseconds
        clockOffsetNanoseconds = host.firstTrack.sourceTiming?.clockOffset.nanoseconds
    }

    private mutating func addTracks(of host: ScreenRelayHost) {
        let tracks = host.tracks
        trackCount = tracks.count
        self.tracks = tracks.prefix(Self.trackLimit).map { Track($0) }
        recording = self.tracks.first?.recording
    }

    /// How frames reach the viewers.
    private mutating func addPaths(of host: ScreenRelayHost) {
        let metrics = host.metrics
        viewers = host.viewers
        tcpViewers = metrics.tcpViewers
        narrowViewers = metrics.lowLayerViewers
        let narrow = host.statistics.filter(\.getsLowLayer).sorted { $0.id.rawValue < $1.id.rawValue }
        narrowPaths = narrow.isEmpty ? nil : narrow.prefix(Self.narrowPathLimit).map { NarrowPath($0) }
        mediaLagNanoseconds = metrics.mediaLag.nanoseconds
        overloaded = metrics.isOverloaded
        for (name, times) in metrics.namedStages { stages[name] = Stage(times) }
    }

    private mutating func addAccess(to host: ScreenRelayHost) {
        let document = host.linksDocument()
        links = document.links
        expires = document.expires
        fingerprint = document.fingerprint
        api = host.administration.map { API(url: $0.url, tokenFile: $0.tokenFile.map { Self.beginning(of: $0) }) }
    }

    private mutating func addDoors(of host: ScreenRelayHost) {
        let doors = host.roomNames.map { (room: $0, state: host.door(of: $0)) }
        locked = Array(doors.filter { $0.state.isLocked }.map(\.room).prefix(Self.lockedLimit))
        let clients = doors.flatMap { door in door.state.waiting.map { (room: door.room, client: $0) } }
        waiting = clients.count
        guard !clients.isEmpty else { return }
        waitingClients = clients.prefix(Self.waitingLimit).map { room, client in
            Waiting(room: room, id: client.id, name: client.name, address: client.address)
        }
    }

    /// The first 256 Unicode scalars of a text: a character may have any number of them.
    public static func beginning(of text: String) -> String { beginning(of: text, textLimit) }

    private static func beginning(of text: String, _ limit: Int) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit)))
    }
}

// MARK: - Parts

extension StatusDocument {
    /// A track of a room.
    public struct Track: Codable, Sendable, Equatable {
        /// The room's name.
        public var room = ""
        /// The track's name.
        public var name = ""
        /// The state of the track's source, like that of the document.
        public var state = "waiting"
        /// The viewers of the track.
        public var viewers = 0
        /// `none`, `live`, `idle` while there is a source of sound and neither a listener nor a recording, or `muted`.
        public var sound = "none"
        /// The viewers who receive the sound.
        public var listeners = 0
        /// The track's recording; nil if it has none.
        public var recording: Recording?
        /// `RTMP`, `RTSP` or `SRT`, over which the track is published; nil for other sources.
        public var publishedOver: String?
        /// Whether the host encodes the published pictures again; nil like `publishedOver`.
        public var reencoded: Bool?
        /// What is published, in words; nil like `publishedOver`.
        public var publication: String?

        /// A track without a source.
        public init() {}

        init(_ track: HostedTrack) {
            room = track.room
            name = track.name
            state = track.sourceState.word
            viewers = track.viewers
            listeners = track.listeners
            let status = track.recording
            recording = status.map { Recording($0) }
            let isRecorded = status.map { $0.failure == nil } ?? false
            sound = track.soundState == .live && listeners == 0 && !isRecorded ? "idle" : track.soundState.rawValue
            publishedOver = track.publication?.transport.rawValue
            reencoded = track.publication?.isReencoded
            publication = track.publication?.text
        }
    }

    /// A recording of a track.
    public struct Recording: Codable, Sendable, Equatable {
        /// The file's path, at most 4096 Unicode scalars.
        public var path = ""
        /// The messages in the file.
        public var messages: UInt64 = 0
        /// The length of the file in bytes.
        public var bytes: UInt64 = 0
        /// The messages that were left out.
        public var missingMessages: UInt64 = 0
        /// Why the recording has stopped by itself; nil while it continues.
        public var stopped: String?

        /// A recording without messages.
        public init() {}

        init(_ status: RecordingStatus) {
            path = StatusDocument.beginning(of: status.path, StatusDocument.pathLimit)
            messages = status.counters.messages
            bytes = status.counters.fileBytes
            missingMessages = status.counters.missingMessages
            stopped = status.failure?.cause
        }
    }

    /// The path of a viewer who gets fewer pictures.
    public struct NarrowPath: Codable, Sendable, Equatable {
        /// The IP address that the pictures go to; nil before there is one.
        public var address: String?
        /// The estimated bit rate of the path, in bits per second; nil if there is no estimate.
        public var estimateBitsPerSecond: Int?
        /// How long packets wait on the path, in nanoseconds; nil like `estimateBitsPerSecond`.
        public var queueNanoseconds: Int64?

        /// A path of which nothing is known.
        public init() {}

        init(_ statistics: PeerStatistics) {
            address = statistics.address
            estimateBitsPerSecond = statistics.estimate?.bitsPerSecond
            queueNanoseconds = statistics.queueDelay?.nanoseconds
        }
    }

    /// Where `/api` is.
    public struct API: Codable, Sendable, Equatable {
        /// Its URL.
        public var url: String
        /// The file of its token, the first 256 Unicode scalars; nil if there is none.
        public var tokenFile: String?

        /// An `/api` at this URL.
        public init(url: String, tokenFile: String? = nil) {
            self.url = url
            self.tokenFile = tokenFile
        }
    }

    /// A client that waits to be let in.
    public struct Waiting: Codable, Sendable, Equatable {
        /// The room's name.
        public var room: String
        /// The identifier that `screenrelay admit` accepts.
        public var id: String
        /// The name that the client has chosen, which may be any text.
        public var name: String?
        /// The client's address.
        public var address: String

        /// A client that waits at the door of `room`.
        public init(room: String, id: String, name: String? = nil, address: String) {
            self.room = room
            self.id = id
            self.name = name
            self.address = address
        }
    }

    /// A room of another server that the host is to be a member of.
    public struct Join: Codable, Sendable, Equatable {
        /// The server, without path and room.
        public var to = ""
        /// `joining` before the first success or failure, `joined`, `full`, `waiting` to try again or to be let in, or
        /// `ended`.
        public var state = "joining"
        /// The other members while it is `joined`.
        public var members: Int?
        /// Those of them that get no picture; nil if all get it.
        public var excluded: Int?
        /// Why it is waiting, or why members get no picture.
        public var reason: String?
        /// Whether it waits to be let in; nil if it doesn't.
        public var knocking: Bool?

        /// A join that has just begun.
        public init() {}
    }

    /// The time that pictures take for one stage of their way.
    public struct Stage: Codable, Sendable, Equatable {
        /// The number of pictures.
        public var pictures: UInt64
        /// The median time, in nanoseconds.
        public var medianNanoseconds: Int64
        /// The 95th percentile of the time, in nanoseconds.
        public var p95Nanoseconds: Int64

        /// The times of this many pictures.
        public init(pictures: UInt64, medianNanoseconds: Int64, p95Nanoseconds: Int64) {
            self.pictures = pictures
            self.medianNanoseconds = medianNanoseconds
            self.p95Nanoseconds = p95Nanoseconds
        }

        /// Nil if there is no picture yet.
        init?(_ times: DelayHistogram) {
            guard let median = times.quantile(0.5), let most = times.quantile(0.95) else { return nil }
            self.init(
                pictures: times.count, medianNanoseconds: median.nanoseconds, p95Nanoseconds: most.nanoseconds)
        }
    }
}

extension SourceState {
    /// The state in one word, for programs.
    package var word: String {
        switch self {
        case .waiting: "waiting"
        case .live: "live"
        case .paused(.sharer): "paused"
        case .paused(.screenLocked): "locked"
        case .paused(.windowHidden): "hidden"
        case .gone: "gone"
        }
    }
}
