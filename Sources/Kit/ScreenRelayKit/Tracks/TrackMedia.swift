import CaptureLink
import Ingest
import MediaSessions
import MediaTypes
import Signalling
import TrackHub
import WebRTC

/// A track's media as its room's signalling sees it: the media server has the sessions, the track's ingest the rest.
struct TrackMedia: RoomMedia {
    /// How long a snapshot waits for a paused source to show its screen.
    private static let snapshotTimeout = Interval.seconds(3)

    /// What viewers watch; its pictures go through `ingest`.
    let source: WatchedSource
    let ingest: TrackIngest
    let server: MediaServer
    private let files = SnapshotFiles()

    var sessions: any SessionServer { server }

    func open(
        offer sdp: String, from client: String, onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> OpenedSession {
        try server.open(offer: sdp, from: client, watching: source, onEnd: onEnd)
    }

    func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaSessionError) -> OfferedSession {
        try server.offer(watching: source, onEnd: onEnd)
    }

    func openFrames(
        for client: String, sink: @escaping @Sendable (WholePicture) -> Void,
        soundSink: @escaping @Sendable (WholeAudio) -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> MediaSessionID {
        try server.openFrames(of: source, for: client, sink: sink, soundSink: soundSink, onEnd: onEnd)
    }

    var isSteady: Bool {
        switch ingest.hub.source {
        case nil, is CustomVideoTrack, is PublishedSource: false
        // Over the link, a legacy sender and a replay make no key frames. A capture does.
        case let source?: source.makesKeyFrames
        }
    }

    var changeAge: Interval? { ingest.hub.stages?.changeAge }

    func setPointerDrawn(_ isDrawn: Bool) {
        ingest.hub.setPointerMode(isDrawn ? .drawn : .apart)
    }

    func showPoint(_ point: ViewerPoint?) { ingest.hub.source?.showPoint(point) }

    func snapshot(
        _ format: SnapshotFormat, isWanted: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (Result<SnapshotFile, SnapshotError>) -> Void
    ) {
        ingest.snapshot(timeout: Self.snapshotTimeout) { picture in
            guard let picture, isWanted() else { return completion(.failure(.noPicture)) }
            files.make(of: picture, format, isWanted: isWanted, completion)
        }
    }
}
