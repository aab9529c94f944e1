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
    ///   - onEnd: called once on the media thread with the reason in words when the session is over.
    /// - Returns: the session, and whether the publisher says that it sends a key frame on request.
    /// - Throws: ``MediaSessionError`` if the offer can't be read or sends nothing that can be received, or if there is
    ///   no room.
    public func publish(
        offer: String, to receiver: any PublishedFrameReceiver,
        onEnd: @escaping @Sendable (MediaSessionID, String) -> Void
    ) throws(MediaSessionError) -> (session: OpenedSession, answersKeyFrameRequests: Bool) {
        let loop = group.loopForNewSession()
        let local = localDescription(in: loop, sending: [])
        let answer: PublisherAnswer
        do {
            answer = try PublisherAnswer(to: SessionDescription(parsing: offer), local: local)
        } catch {
            throw MediaSessionError(error)
        }
        let id = try nextID(in: loop)
        let parameters = try self.parameters(of: id, local: local, media: answer.media)
        // Each section that the answer accepts has a receiver.
        let publications = answer.media.sections.map { Publication($0, to: receiver) }
        let isPosted = post(
            .publish(
                parameters, publications,
                onEnd: { [weak self] reason in
                    self?.ended(id)
                    onEnd(id, reason)
                }), to: id)
        guard isPosted else {
            ended(id)
            throw .stopped
        }
        let opened = OpenedSession(id: id, answer: answer.text, entityTag: local.iceUfrag)
        return (opened, publications.contains(where: \.answersKeyFrameRequests))
    }

    /// Asks a publisher for a key frame. Does nothing for unknown sessions and for publishers that don't support such
    /// requests.
    public func requestKeyFrame(of id: MediaSessionID) {
        post(.requestKeyFrame(id), to: id)
    }
}

extension Publication {
    /// What a publisher sends in `section`. Our reports about it have a random SSRC.
    init(_ section: NegotiatedSection, to receiver: any PublishedFrameReceiver) {
        self.init(
            ssrc: SSRC(SecureRandom.uint32()), payloadType: PayloadType(section.format.payloadType),
            rtxPayloadType: section.format.rtxPayloadType.map { PayloadType($0) },
            track: section.format.track, answersNacks: section.format.feedback.contains(.nack),
            answersKeyFrameRequests: section.format.feedback.contains(.pli),
            hasReducedSizeRTCP: section.hasReducedSizeRTCP,
            transportNumberID: section.extensions.transportNumber, receiver: receiver)
    }
}
