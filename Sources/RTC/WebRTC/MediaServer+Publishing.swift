import RTP
import SDP
import STUN
import SecureTransport
import Synchronization

/// A publisher's session that was opened.
public struct OpenedPublisher: Sendable {
    public var id: PeerSessionID
    /// The answer (SDP), all of our candidates in it.
    public var answer: String
    /// Names this state of ICE, as WHIP's ETag: our user fragment, which is no secret.
    public var entityTag: String
    /// Whether the publisher says that it makes an IDR when asked.
    public var answersKeyFrameRequests: Bool
}

extension MediaServer {
    /// Answers `offer` with a session that takes the peer's video; quick, never blocks.
    ///
    /// - Parameters:
    ///   - receiver: takes its access units, on the media thread.
    ///   - onEnd: called once, on the media thread, when the session is over, with the reason in words.
    public func publish(
        offer: String, to receiver: any PublishedUnitReceiver,
        onEnd: @escaping @Sendable (PeerSessionID, String) -> Void
    ) throws(OfferRefusal) -> OpenedPublisher {
        let local = localDescription()
        let answer: PublisherAnswer
        let fingerprint: SecureTransport.CertificateFingerprint
        do {
            answer = try PublisherAnswer(to: SessionDescription(parsing: offer), local: local)
            let remote = answer.video.remoteFingerprint
            fingerprint = try SecureTransport.CertificateFingerprint(
                algorithmName: remote.algorithm, bytes: remote.bytes)
        } catch {
            throw OfferRefusal(error)
        }
        let video = answer.video
        let id = try nextID()
        counters.withLock { $0.remoteICE[id] = RemoteICE(video) }
        let parameters = SessionParameters(
            id: id, localUfrag: local.iceUfrag, localPassword: local.icePassword, remoteUfrag: video.remoteUfrag,
            remotePassword: video.remotePassword, remoteFingerprint: fingerprint,
            isDTLSClient: video.dtlsRole == .client, formats: SessionFormats(video),
            extensions: HeaderExtensionFormat(), ssrc: SSRC(local.ssrc), retransmissionSSRC: SSRC(local.rtxSSRC),
            canonicalName: local.cname, clock: clock)
        let publication = Publication(
            payloadType: PayloadType(video.payloadType), answersNacks: video.feedback.contains(.nack),
            answersKeyFrameRequests: video.feedback.contains(.pli), receiver: receiver)
        let isPosted = inbox.post(
            .publish(
                parameters, publication,
                onEnd: { [weak self] reason in
                    self?.ended(id)
                    onEnd(id, reason)
                }))
        guard isPosted else {
            ended(id)
            throw .stopped
        }
        return OpenedPublisher(
            id: id, answer: answer.text, entityTag: local.iceUfrag,
            answersKeyFrameRequests: publication.answersKeyFrameRequests)
    }

    /// Asks a publisher for an IDR picture; unknown sessions, and those that can't be asked, are left alone.
    public func requestKeyFrame(of id: PeerSessionID) {
        inbox.post(.requestKeyFrame(id))
    }
}
