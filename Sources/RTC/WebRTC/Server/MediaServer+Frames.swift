import Clocks
public import MediaSessions
import MediaTypes
import Threading
public import TrackHub

extension MediaServer {
    /// Opens a session that gives the pictures of `source` to `sink`, whole and in order, as fast as the viewer
    /// confirms them, and its sound to `soundSink` while the viewer wants it (``setAudioEnabled(_:for:)``). The viewer
    /// counts as one that decodes only 4:2:0. Quick and never blocks.
    ///
    /// - Parameters:
    ///   - client: the viewer's address in text, without the port.
    ///   - sink, soundSink: called on the media thread; must not block.
    ///   - onEnd: called once on the media thread with the reason in words when the session is over.
    /// - Throws: `unsupported` if the track has no pictures or only some in 4:4:4, or `full` if a limit is
    ///   reached or the server ends.
    public func openFrames(
        of source: WatchedSource, for client: String, sink: @escaping @Sendable (WholePicture) -> Void,
        soundSink: @escaping @Sendable (WholeAudio) -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> MediaSessionID {
        guard let hub = source.tracks[.video] else { throw .unsupported("this track has no pictures") }
        // Catches up on decisions that were due while there were no viewers.
        hub.pollChroma(now: .now())
        guard !hub.excludes(viewerDecoding: .yuv420) else { throw .unsupported(ChromaPolicy.exclusion) }
        let id = try nextID(in: group.loopForNewSession())
        hub.viewerCame(decoding: .yuv420, now: .now())
        let leave: @Sendable () -> Void = { [weak self] in
            hub.viewerLeft(decoding: .yuv420, now: .now())
            self?.ended(id)
        }
        let request = FrameRequest(
            id: id, hub: hub, sound: source.tracks[.audio], client: client, clock: clock,
            openedAt: .now(), sink: sink, soundSink: soundSink,
            onEnd: { reason in
                leave()
                onEnd(reason)
            })
        guard post(.openFrameViewer(request), to: id) else {
            leave()
            throw .stopped
        }
        return id
    }

    public func confirmPictures(of session: MediaSessionID, through number: UInt32) {
        // It waits for the thread's turn, which is not the path's delay.
        post(.confirmPictures(session, through: number, arrival: .now()), to: session)
    }

    public func setAudioEnabled(_ isOn: Bool, for session: MediaSessionID) {
        post(.setAudioEnabled(isOn, session), to: session)
    }

    public func requestKeyPicture(for session: MediaSessionID) {
        post(.requestKeyFrame(session), to: session)
    }
}
