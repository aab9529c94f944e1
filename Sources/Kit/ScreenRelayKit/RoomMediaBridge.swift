import CaptureLink
import Ingest
import MediaTypes
import Signalling
import TrackHub
import WebRTC

/// Connects a room's signalling with its track and the media server.
struct RoomMediaBridge: RoomMedia {
    /// How long a snapshot waits for a paused source to show its screen.
    private static let snapshotPatience = Interval.seconds(3)

    let ingest: TrackIngest
    let media: MediaServer
    private let files = SnapshotFiles()

    init(ingest: TrackIngest, media: MediaServer) {
        self.ingest = ingest
        self.media = media
    }

    func open(offer sdp: String, onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> OpenedSession {
        do throws(OfferRefusal) {
            let opened = try media.open(offer: sdp, watching: ingest.hub, onEnd: onEnd)
            return OpenedSession(
                id: MediaSessionID(rawValue: opened.id.rawValue), answer: opened.answer, entityTag: opened.entityTag)
        } catch {
            throw MediaRefusal(error)
        }
    }

    func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> OfferedSession {
        do throws(OfferRefusal) {
            let offered = try media.offer(watching: ingest.hub, onEnd: onEnd)
            return OfferedSession(id: MediaSessionID(rawValue: offered.id.rawValue), offer: offered.offer)
        } catch {
            throw MediaRefusal(error)
        }
    }

    func accept(answer sdp: String, for session: MediaSessionID) throws(MediaRefusal) {
        do throws(OfferRefusal) {
            try media.accept(answer: sdp, for: PeerSessionID(session.rawValue))
        } catch {
            // Also after a second answer: a caller who gets a refusal forgets the session, which must not remain
            // without an owner.
            media.close(PeerSessionID(session.rawValue))
            throw MediaRefusal(error)
        }
    }

    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaRefusal) -> RestartedSession {
        do throws(OfferRefusal) {
            let restarted = try media.restartICE(PeerSessionID(session.rawValue), fragment: fragment)
            return RestartedSession(fragment: restarted.fragment, entityTag: restarted.entityTag)
        } catch {
            throw MediaRefusal(error)
        }
    }

    func close(_ session: MediaSessionID) {
        media.close(PeerSessionID(session.rawValue))
    }

    func remoteCandidates(_ session: MediaSessionID, fragment: String) {
        // ICE-lite: the peer connects to us, whatever its candidates are.
    }

    func setPointerDrawn(_ isDrawn: Bool) {
        ingest.hub.setPointerMode(isDrawn ? .drawn : .apart)
    }

    func watchPointer(
        _ session: MediaSessionID, onChange: @escaping @Sendable (_ isDrawn: Bool, _ timestamp: UInt32) -> Void
    ) {
        media.watchPointer(of: PeerSessionID(session.rawValue)) { onChange($0.isDrawn, $0.timestamp) }
    }

    func snapshot(
        _ format: SnapshotFormat, isWanted: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (Result<SnapshotFile, SnapshotFailure>) -> Void
    ) {
        ingest.snapshot(patience: Self.snapshotPatience) { picture in
            guard let picture, isWanted() else { return completion(.failure(.noPicture)) }
            files.make(of: picture, format, isWanted: isWanted, completion)
        }
    }
}

extension MediaRefusal {
    /// The signalling's form of the media server's refusal.
    init(_ refusal: OfferRefusal) {
        switch refusal {
        case .malformed(let why): self = .badOffer(why)
        case .unusable(let why): self = .unsupported(why)
        case .full, .stopped: self = .full("\(refusal)")
        }
    }
}
