public import MediaSessions
import RTP
import SDP
import SecureTransport
import Threading

extension MediaServer {
    /// Answers `offer` with a session that receives the peer's video, and its audio if it has any. Quick and never
    /// blocks.
    ///
    /// - Parameters:
    ///   - receiver: receives its frames, on the media thread.
    ///   - onEnd: called once on the media thread with the reason when the session is over.
    /// - Returns: the session, and whether the publisher says that it sends a key frame on request.
    /// - Throws: ``MediaSessionError`` if the offer can't be read or sends nothing that can be received, or if there is
    ///   no room.
    public func publish(
        offer: String, to receiver: any PublishedFrameReceiver,
        onEnd: @escaping @Sendable (MediaSessionID, SessionEnd) -> Void
    ) throws(MediaSessionError) -> (session: OpenedSession, answersKeyFrameRequests: Bool) {
        let loop = group.loopForNewSession()
        let local = localDescription(in: loop, sending: [])
        let answer: PublisherAnswer
        do {
            answer = try PublisherAnswer(to: SessionDescription(parsing: offer), local: local)
        } catch {
            throw MediaSessionError(error)
        }
        // Each section that the answer accepts has a receiver.
        let publications = answer.media.sections.map { Publication($0, to: receiver) }
        let id = try receive(publications, in: loop, local: local, media: answer.media, onEnd: onEnd)
        let opened = OpenedSession(id: id, answer: answer.text, entityTag: local.iceUfrag)
        return (opened, publications.contains(where: \.answersKeyFrameRequests))
    }

    /// Makes our offer to a server whose viewer we want to be, which sends one video, and its sound if it has any. It
    /// takes no room in this server before its answer. Quick and never blocks.
    public func offerToView() -> ViewingOffer {
        let loop = group.loopForNewSession()
        var local = localDescription(in: loop, sending: [])
        // The server may be ICE-lite.
        local.isICELite = false
        return ViewingOffer(offer: Offer(receivingAs: local), local: local, loop: loop)
    }

    /// Begins the session that a server has answered `offer` with. Quick and never blocks.
    ///
    /// - Parameters:
    ///   - offer: the offer of this server; each offer serves for one session.
    ///   - receiver: receives the server's frames, on the media thread.
    ///   - onEnd: called once on the media thread with the reason when the session is over.
    /// - Throws: ``MediaSessionError`` if the answer can't be read or sends nothing that can be received, or if there
    ///   is no room.
    public func view(
        _ offer: ViewingOffer, answer: String, to receiver: any PublishedFrameReceiver,
        onEnd: @escaping @Sendable (MediaSessionID, SessionEnd) -> Void
    ) throws(MediaSessionError) -> MediaSessionID {
        let media: NegotiatedMedia
        do {
            media = try offer.offer.negotiated(with: SessionDescription(parsing: answer))
        } catch {
            throw MediaSessionError(error)
        }
        let publications = media.sections.map { Publication($0, to: receiver) }
        return try receive(publications, in: offer.loop, local: offer.local, media: media, onEnd: onEnd)
    }

    /// Begins a session in `loop` that receives `publications`.
    private func receive(
        _ publications: [Publication], in loop: Int, local: LocalDescription, media: NegotiatedMedia,
        onEnd: @escaping @Sendable (MediaSessionID, SessionEnd) -> Void
    ) throws(MediaSessionError) -> MediaSessionID {
        let id = try nextID(in: loop)
        let parameters = try self.parameters(of: id, local: local, media: media)
        let isPosted = post(
            .publish(
                parameters, publications,
                onEnd: { [weak self] end in
                    self?.ended(id)
                    onEnd(id, end)
                }), to: id)
        guard isPosted else {
            ended(id)
            throw .stopped
        }
        return id
    }

    /// Asks the sender of a session's frames for a key frame. Does nothing for unknown sessions and for senders that
    /// don't support such requests.
    public func requestKeyFrame(of id: MediaSessionID) {
        post(.requestKeyFrame(id), to: id)
    }
}

/// Our offer to be a server's viewer, which ``MediaServer/view(_:answer:to:onEnd:)`` completes. May be used from any
/// thread.
public final class ViewingOffer: Sendable {
    let offer: Offer
    let local: LocalDescription
    let loop: Int

    init(offer: Offer, local: LocalDescription, loop: Int) {
        self.offer = offer
        self.local = local
        self.loop = loop
    }

    /// The SDP offer, with all of our candidates.
    public var text: String { offer.text }
}

extension Publication {
    /// What the peer sends in `section`. Our reports about it have a random SSRC.
    init(_ section: NegotiatedSection, to receiver: any PublishedFrameReceiver) {
        self.init(
            ssrc: SSRC(SecureRandom.uint32()),
            formats: section.formats.map { format in
                Format(
                    payloadType: PayloadType(format.payloadType),
                    rtxPayloadType: format.rtxPayloadType.map { PayloadType($0) })
            },
            track: section.format.track, answersNacks: section.format.feedback.contains(.nack),
            answersKeyFrameRequests: section.format.feedback.contains(.pli),
            hasReducedSizeRTCP: section.hasReducedSizeRTCP,
            transportNumberID: section.extensions.transportNumber, receiver: receiver)
    }
}
