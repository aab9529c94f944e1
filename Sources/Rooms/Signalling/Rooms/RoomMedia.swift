public import MediaSessions
public import MediaTypes

/// The media layer of one track, as signalling sees it: sessions with viewers, snapshots and the pointer.
public protocol RoomMedia: Sendable {
    /// The server of the sessions that `open` and `offer` create.
    var sessions: any SessionServer { get }

    /// Answers a viewer's offer, which came from `client`, an address in text without the port. Returns quickly and
    /// never blocks. Called on the signalling thread.
    ///
    /// `onEnd` is called at most once, on any thread, when the session ends, with the reason as text.
    ///
    /// - Throws: ``MediaSessionError`` if the offer can't be answered or there is no room for another session.
    func open(
        offer sdp: String, from client: String, onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> OpenedSession

    /// Opens a session with an offer from the host, for a viewer that waits for one. Returns quickly and never blocks.
    /// Called on the signalling thread; `onEnd` is as in `open`. Throws `full` if there is no room for another session.
    func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaSessionError) -> OfferedSession

    /// Opens a session that gives `sink` the track's pictures, for a viewer at the address `client` that confirms them
    /// (see ``SessionServer/confirmPictures(of:through:)``), and `soundSink` the sound while the viewer wants it (see
    /// ``SessionServer/setAudioEnabled(_:for:)``). Returns quickly and never blocks. Called on the signalling thread;
    /// the sinks are called on any thread and must not block, and `onEnd` is as in `open`. Throws ``MediaSessionError``
    /// if the track has no pictures for such a viewer or there is no room for another session.
    func openFrames(
        for client: String, sink: @escaping @Sendable (WholePicture) -> Void,
        soundSink: @escaping @Sendable (WholeAudio) -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> MediaSessionID

    /// Encodes the last picture as a file; wakes a paused source. `completion` is called once, on any thread. If
    /// `isWanted` returns false, no request waits any longer and no file needs to be made. As long as a file is kept,
    /// it is returned again for an unchanged picture and format.
    func snapshot(
        _ format: SnapshotFormat, isWanted: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (Result<SnapshotFile, SnapshotError>) -> Void)

    /// Whether the source sends a picture every 2.5 s at least while it is live, even if nothing changes. If so, its
    /// silence means a fault.
    var isSteady: Bool { get }

    /// How old changes have been lately when the source captured them; nil if that isn't known.
    var changeAge: Interval? { get }

    /// Draws the pointer into the room's pictures, or leaves it out. Called on the signalling thread.
    func setPointerDrawn(_ isDrawn: Bool)

    /// Shows on the sharer's own screen where a viewer points and what it has drawn; nil removes all that is shown.
    /// Returns quickly. Called on the signalling thread.
    func showPoint(_ point: ViewerPoint?)
}

/// The file format of a snapshot.
public enum SnapshotFormat: String, Sendable, CaseIterable {
    case png
    case jpeg = "jpg"

    var contentType: String {
        switch self {
        case .png: "image/png"
        case .jpeg: "image/jpeg"
        }
    }
}

/// Why there is no snapshot.
public enum SnapshotError: Error, Sendable, Equatable {
    /// Nothing has been captured yet. HTTP 503.
    case noPicture
    /// The picture couldn't be encoded as a file. HTTP 500.
    case failed(String)
}
