import CaptureLink
import Dispatch
import Ingest
import MediaTypes
import PictureFiles
import Signalling
import Threading
import TrackHub
import WebRTC

/// What a room's signalling needs, from the track and the media server.
struct RoomMediaBridge: RoomMedia {
    /// How long a snapshot waits for a paused source to show its screen.
    private static let snapshotPatience = Interval.seconds(3)

    let ingest: TrackIngest
    let media: MediaServer
    let log: EventLog
    /// Writing a file of a large picture takes tens of milliseconds: not on the tap's thread, and one at a time.
    private let files = DispatchQueue(label: "snapshots")

    init(ingest: TrackIngest, media: MediaServer, log: EventLog) {
        self.ingest = ingest
        self.media = media
        self.log = log
    }

    func open(offer sdp: String, onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> OpenedSession {
        do throws(OfferRefusal) {
            let opened = try media.open(offer: sdp, watching: ingest.hub, onEnd: onEnd)
            return OpenedSession(
                id: MediaSessionID(rawValue: opened.id.rawValue), answer: opened.answer, entityTag: opened.entityTag)
        } catch {
            log.info("an offer is refused: \(error)")
            throw MediaRefusal(error)
        }
    }

    func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaRefusal) -> OfferedSession {
        do throws(OfferRefusal) {
            let offered = try media.offer(watching: ingest.hub, onEnd: onEnd)
            return OfferedSession(id: MediaSessionID(rawValue: offered.id.rawValue), offer: offered.offer)
        } catch {
            log.info("no offer can be made: \(error)")
            throw MediaRefusal(error)
        }
    }

    func accept(answer sdp: String, for session: MediaSessionID) throws(MediaRefusal) {
        do throws(OfferRefusal) {
            try media.accept(answer: sdp, for: PeerSessionID(session.rawValue))
        } catch {
            log.info("an answer is refused: \(error)")
            // Also where it is the second: whoever is told "no" forgets the session, which must not go on without an owner.
            media.close(PeerSessionID(session.rawValue))
            throw MediaRefusal(error)
        }
    }

    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaRefusal) -> RestartedSession {
        do throws(OfferRefusal) {
            let restarted = try media.restartICE(PeerSessionID(session.rawValue), fragment: fragment)
            return RestartedSession(fragment: restarted.fragment, entityTag: restarted.entityTag)
        } catch {
            log.info("an ICE restart is refused: \(error)")
            throw MediaRefusal(error)
        }
    }

    func close(_ session: MediaSessionID) {
        media.close(PeerSessionID(session.rawValue))
    }

    func remoteCandidates(_ session: MediaSessionID, fragment: String) {
        // ICE-lite: the peer comes to us, whatever its candidates are.
    }

    func setPointerDrawn(_ isDrawn: Bool) {
        ingest.setPointerMode(isDrawn ? .drawn : .apart)
    }

    func watchPointer(
        _ session: MediaSessionID, onChange: @escaping @Sendable (_ isDrawn: Bool, _ timestamp: UInt32) -> Void
    ) {
        media.watchPointer(of: PeerSessionID(session.rawValue)) { onChange($0.isDrawn, $0.timestamp) }
    }

    func snapshot(
        _ format: SnapshotFormat, completion: @escaping @Sendable (Result<[UInt8], SnapshotFailure>) -> Void
    ) {
        ingest.snapshot(patience: Self.snapshotPatience) { picture in
            guard let picture else {
                completion(.failure(.noPicture))
                return
            }
            files.async {
                do {
                    switch format {
                    case .png: completion(.success(try PictureFile.png(picture)))
                    case .jpeg: completion(.success(try PictureFile.jpeg(picture)))
                    }
                } catch {
                    completion(.failure(.failed("\(error)")))
                }
            }
        }
    }
}

extension MediaRefusal {
    /// What signalling makes of the media server's refusal.
    init(_ refusal: OfferRefusal) {
        switch refusal {
        case .malformed(let why): self = .badOffer(why)
        case .unusable(let why): self = .unsupported(why)
        case .full, .stopped: self = .full("\(refusal)")
        }
    }
}
