import CaptureLink
import Clocks
import Ingest
public import MediaSessions
public import MediaTypes
import Signalling
public import TrackHub

/// The measurements of a host, for all its tracks together and for each room. The status for programs and `/metrics`
/// are made from them; they contain no name, address or token. Session figures are at most about a second old, capture
/// figures 2.5 s.
public struct Metrics: Sendable {
    /// Viewers now. A viewer of two tracks counts twice.
    public var viewers = 0
    /// Viewers who get fewer pictures, because their paths can't carry all.
    public var lowLayerViewers = 0
    /// Viewers whose pictures go over TCP.
    public var tcpViewers = 0
    /// Viewers whose pictures go over the WebSockets of their pages.
    public var webSocketViewers = 0
    /// Viewers' sessions that are not connected yet, and connected ones. A push over WebRTC counts as a viewer.
    public var sessions = (connecting: 0, connected: 0)
    /// The rooms in the order of the configuration. Rooms beyond ``roomLimit`` are counted together, in one more.
    public var rooms: [Room] = []
    /// Captures that are connected and have reported on their work.
    public var captures = 0
    /// What tracks have done, including tracks and captures that are gone.
    public var tracks = TrackTotals()
    /// Memory that the connected captures use now, in bytes.
    public var captureMemory: UInt64 = 0
    /// Publishers besides those over WHIP, by whether their pictures pass unchanged or are encoded again.
    public var publishers: [PublishingProtocol: PublisherCount] = [:]
    /// What sessions have sent since the host began.
    public var sent = MediaTotals()
    /// How late a media thread has made viewers at most, in the last second or two; 0 while all of them rest.
    public var mediaLag = Interval.zero
    /// The measurements of each media thread, of which there are at most eight.
    public var mediaThreads: [MediaThreadStatistics] = []
    /// Messages of viewers who point that were dropped, because they sent too many.
    public var droppedPoints = 0
    /// Chat messages that were refused, because their viewers or their rooms sent too many.
    public var droppedChatMessages = 0
    /// Whether all media threads are overloaded: sources make fewer frames, and new viewers are refused.
    public var isOverloaded = false

    /// How many rooms have figures of their own.
    public static let roomLimit = 16

    /// What there is in a room, or in several rooms together.
    public struct Room: Sendable {
        /// Viewers now. A viewer of two tracks counts twice.
        public var viewers = 0
        /// Tracks whose source has not come yet.
        public var waitingTracks = 0
        /// Tracks whose source shows something.
        public var liveTracks = 0
        /// Tracks whose source shows nothing, deliberately.
        public var pausedTracks = 0
        /// Tracks whose source has gone.
        public var goneTracks = 0

        /// A room without tracks.
        public init() {}

        mutating func add(_ track: HostedTrack) {
            viewers += track.viewers
            switch track.sourceState {
            case .waiting: waitingTracks += 1
            case .live: liveTracks += 1
            case .paused: pausedTracks += 1
            case .gone: goneTracks += 1
            }
        }
    }

    /// Metrics of a host that has done nothing.
    public init() {}

    /// The stages of a picture's way through capture and host, in order, with their names for programs.
    public var namedStages: [(name: String, times: DelayHistogram)] {
        let stages = tracks.work.stages
        return [
            ("waiting", stages.waiting), ("encoding", stages.encoding), ("link", stages.link),
            ("sending", sent.sending),
        ]
    }
}

extension ScreenRelayHost {
    /// The host's current measurements. Doesn't wait for another thread.
    public var metrics: Metrics {
        var metrics = Metrics()
        let now = MonotonicTime.now()
        let names = [room] + configuration.furtherRooms.map(\.name)
        metrics.rooms = Array(repeating: Metrics.Room(), count: min(names.count, Metrics.roomLimit + 1))
        metrics.tracks = trackTotals
        for track in tracks {
            if let index = names.firstIndex(of: track.room) {
                metrics.rooms[min(index, Metrics.roomLimit)].add(track)
            }
            if let publication = track.publication {
                metrics.publishers[publication.transport, default: PublisherCount()].add(publication)
            }
            guard let capture = track.ingest.hub.statistics(now: now) else { continue }
            metrics.captures += 1
            // A capture may report any number.
            metrics.captureMemory &+= capture.residentBytes
        }
        metrics.viewers = metrics.rooms.map(\.viewers).reduce(0, +)
        let statistics = self.statistics
        metrics.lowLayerViewers = statistics.count(where: \.getsLowLayer)
        metrics.tcpViewers = statistics.count { $0.transport == .tcp }
        metrics.webSocketViewers = statistics.count { $0.transport == .webSocket }
        metrics.sessions.connected = statistics.count(where: \.isConnected)
        metrics.sessions.connecting = statistics.count - metrics.sessions.connected
        metrics.sent = mediaTotals
        metrics.mediaThreads = mediaThreads
        metrics.droppedPoints = signalling.droppedPoints
        metrics.droppedChatMessages = signalling.droppedChatMessages
        (metrics.mediaLag, metrics.isOverloaded) = mediaLoad
        return metrics
    }
}
