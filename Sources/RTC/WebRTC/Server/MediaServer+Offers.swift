import Clocks
public import MediaSessions
import MediaTypes
import SDP
import STUN
import Synchronization
import Threading
public import TrackHub

/// One of our offers, which waits for its answer.
struct PendingOffer: Sendable {
    let offer: Offer
    let local: LocalDescription
    let source: WatchedSource
    let onEnd: @Sendable (String) -> Void
    /// The peer's candidates that came before its answer.
    var candidates: [RemoteCandidate] = []
    private let isTaken = Flag()

    /// Claims the offer and all copies of it, for its answer or for giving up. Returns true only on the first call.
    func take() -> Bool { !isTaken.set() }
}

extension MediaServer {
    /// How long our offer waits for an answer.
    static let answerTimeout = Interval.seconds(30)

    /// Offers a session that watches `source` to a viewer that expects an offer: in 4:2:0 and, unless `controlling`, in
    /// 4:4:4. Quick and never blocks. The peer counts as a viewer once it has answered, for which it has 30 s.
    ///
    /// - Parameters:
    ///   - controlling: whether the host looks for the path and chooses it (RFC 8445), because the peer is a server
    ///     that may be ICE-lite. Such a server may accept 4:4:4 unread, and its viewers then see nothing. Otherwise the
    ///     host is ICE-lite, and the peer chooses.
    ///   - onEnd: called once on the media thread with the reason in words when the session is over, but not if
    ///     ``accept(answer:for:)`` threw.
    /// - Throws: `full` if a limit is reached or the server ends.
    public func offer(
        watching source: WatchedSource, controlling: Bool = false, onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> OfferedSession {
        try offer(watching: source, controlling: controlling, within: Self.answerTimeout, onEnd: onEnd)
    }

    /// Offers a session with another time limit for the answer.
    func offer(
        watching source: WatchedSource, controlling: Bool = false, within timeout: Interval,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> OfferedSession {
        let loop = group.loopForNewSession()
        var local = localDescription(in: loop, sending: source.kinds)
        local.isICELite = !controlling
        // A browser decodes every level, whatever it answers.
        let start = controlling ? source.tracks[.video]?.cachedFrames.first?.coded : nil
        let offer = Offer(local: local, including444: !controlling, beginningWith: start)
        let pending = PendingOffer(offer: offer, local: local, source: source, onEnd: onEnd)
        let id = try nextID(in: loop)
        registry.withLock { $0.offers[id] = pending }
        let isPosted = post(
            .expectAnswer(id, deadline: MonotonicTime.now() + timeout) { [weak self] reason in
                guard pending.take() else { return }
                self?.ended(id)
                pending.onEnd(reason)
            }, to: id)
        guard isPosted else {
            ended(id)
            throw .stopped
        }
        return OfferedSession(id: id, offer: pending.offer.text)
    }

    public func accept(answer: String, for id: MediaSessionID) throws(MediaSessionError) {
        guard let pending = registry.withLock({ $0.offers[id] }), pending.take() else {
            throw .unsupported("this session waits for no answer")
        }
        do {
            let media = try pending.offer.negotiated(with: SessionDescription(parsing: answer))
            if !pending.local.isICELite { try checkReach(of: media) }
            try begin(id, local: pending.local, media: media, watching: pending.source, onEnd: pending.onEnd)
            // Candidates are kept until the session has been posted, since it must come before them.
            let candidates = registry.withLock { $0.offers.removeValue(forKey: id)?.candidates } ?? []
            if !candidates.isEmpty { post(.candidates(id, candidates), to: id) }
        } catch {
            // The media thread need not wait for an answer any longer.
            ended(id)
            close(id)
            throw error as? MediaSessionError ?? MediaSessionError(error)
        }
    }

    /// Refuses a server on another machine if the media's socket is bound to loopback, from where the kernel sends
    /// nothing there.
    private func checkReach(of media: NegotiatedMedia) throws(MediaSessionError) {
        let addresses = media.remoteCandidates.compactMap { RemoteCandidate($0)?.address }
        guard configuration.bind.isLoopback, !addresses.isEmpty else { return }
        let own = LocalAddresses.reachable(port: 0).map(\.host)
        guard !addresses.contains(where: { $0.isLoopback || own.contains($0.host) }) else { return }
        throw .unsupported("it is on another machine, where media goes only with --lan")
    }
}
