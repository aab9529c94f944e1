package import MediaTypes
import Synchronization
package import Threading

/// The publishers of a server other than the host's own: which client may publish into which track, and what happens to
/// a track whose publisher has left. Each track has one publisher at a time, of all such servers of the host. A track
/// that was made for a publisher stays for a while after the publisher has left, so that it can return and its viewers
/// keep watching.
///
/// Methods may be called on any thread; ``start(_:body:)``, ``look(under:now:)`` and ``endAll(because:)`` are for the
/// server's.
package final class ServedPublishers: Sendable {
    /// What a client wants to publish into, and its proof that it may.
    package struct Place: Hashable, Sendable {
        /// Nil for the host's first room.
        package var room: String?
        /// Nil for the room's first track.
        package var track: String?
        /// The token; empty if there is none, or if it was proved otherwise. It is never written to a log.
        package var token: String
        /// The room's password; empty if there is none, or if it was proved otherwise.
        package var password: String

        package init(room: String?, track: String?, token: String = "", password: String = "") {
            self.room = room
            self.track = track
            self.token = token
            self.password = password
        }
    }

    private struct State {
        /// The clients that have a track.
        var publishers: [ServedPublisher] = []
        /// How many there have been, for their identifiers.
        var acceptedCount = 0
        /// Tracks whose publisher has left, the number of its claim, and when they are removed unless another publisher
        /// has claimed them since, over whichever protocol.
        var left: [(track: HostedTrack, claim: Int, due: MonotonicTime)] = []
        /// When to look again whether publishers' links have expired, or their tracks have been removed.
        var looksAt = MonotonicTime.zero
    }

    private let host: ScreenRelayHost
    private let transport: PublishingProtocol
    private let limits: PublisherLimits
    private let wake: EventFD
    private let state = Mutex(State())

    /// - Parameters:
    ///   - transport: what clients publish over.
    ///   - wake: signalled when a publisher has ended, which ``look(under:now:)`` then removes.
    package init(
        of host: ScreenRelayHost, over transport: PublishingProtocol, limits: PublisherLimits, wake: EventFD
    ) {
        self.host = host
        self.transport = transport
        self.limits = limits
        self.wake = wake
    }

    /// How many have a track now.
    package var count: Int { state.withLock { $0.publishers.count } }

    /// When ``look(under:now:)`` has something to do, besides each time that a publisher has ended.
    package var deadline: MonotonicTime {
        state.withLock { state in
            let due = state.left.map { $0.due }.min() ?? .distantFuture
            return state.publishers.isEmpty ? due : min(due, state.looksAt)
        }
    }

    // MARK: Clients

    /// Why a client at `address` may not publish into a place, or nil. Makes no track.
    ///
    /// - Parameter access: the calling thread's.
    package func refusal(of address: String, to place: Place, under access: ViewerAccess) -> PublisherRefusal? {
        let room = place.room ?? host.room
        guard access.letsPresent(address, in: room, token: place.token, password: place.password) else {
            return .unauthorized
        }
        if let reason = host.sessionRefusal() { return .full(reason) }
        if let reason = full { return .full(reason) }
        guard let track = host.track(name(of: place), in: room) else { return nil }
        return track.hasSource || track.isClaimed ? .taken(track: track.name) : nil
    }

    private var full: String? {
        count < limits.publishers
            ? nil : "the host already has \(limits.publishers) publishers over \(transport.rawValue)"
    }

    private func name(of place: Place) -> String {
        let room = place.room ?? host.room
        return place.track ?? host.tracks.first(where: { $0.room == room })?.name ?? "screen"
    }

    /// Claims a place's track for a client at `address` that may publish there. The track is made if the room has none
    /// of this name. ``start(_:body:)`` or ``ServedPublisher/giveUp()`` must follow.
    ///
    /// - Parameter onEnding: called, on any thread, when the publisher is asked to end; its connection then ends for
    ///   the reason in ``ServedPublisher/ending``.
    package func claim(
        _ place: Place, for address: String, onEnding: @escaping @Sendable () -> Void
    ) throws(PublisherRefusal) -> ServedPublisher {
        if let reason = full { throw .full(reason) }
        let track: HostedTrack
        do throws(HostError) {
            track = try host.publishableTrack(name(of: place), in: place.room ?? host.room)
        } catch {
            guard case .track(_, _, let reason) = error else { throw .unusable("\(error)") }
            throw .unusable("the room can't have this track: \(reason)")
        }
        guard !track.hasSource, track.claim() else { throw .taken(track: track.name) }
        return state.withLock { state -> ServedPublisher in
            state.acceptedCount += 1
            let id = "publisher-\(transport.rawValue.lowercased())-\(state.acceptedCount)"
            let publisher = ServedPublisher(id, into: track, from: address, onEnding: onEnding)
            state.publishers.append(publisher)
            return publisher
        }
    }

    // MARK: Publishers

    /// Runs `body`, which feeds the track until the publisher ends, on its own thread, so that decoding delays no other
    /// client. Lists the publisher among the participants of the room. Returns false if the process has no thread
    /// left: the publisher then has to end, and its track is given back.
    package func start(_ publisher: ServedPublisher, body: @escaping @Sendable () -> Void) -> Bool {
        let name = "\(transport.rawValue.lowercased()) publisher"
        guard publisher.start(name, onEnd: { [wake] in wake.signal() }, body: body) else {
            publisher.end(because: "the process has no thread left")
            publisher.giveUp()
            return false
        }
        host.publisherCame(publisher.id, from: publisher.address, into: publisher.track) {
            publisher.end(because: "it was removed from the room")
        }
        return true
    }

    /// Removes publishers that have ended and tracks that are due, and ends publishers whose link has expired or whose
    /// track has been removed.
    ///
    /// - Parameter access: the calling thread's.
    package func look(under access: ViewerAccess, now: MonotonicTime) {
        let ended = state.withLock { $0.publishers.filter(\.isOver) }
        let left = ended.map { publisher in
            (track: publisher.track, claim: publisher.track.giveBackClaim(), due: now + limits.unpublished)
        }
        state.withLock { state in
            state.publishers.removeAll { publisher in ended.contains { $0 === publisher } }
            state.left.removeAll { earlier in left.contains { $0.track === earlier.track } }
            state.left += left
        }
        for publisher in ended { leave(publisher) }
        let due = state.withLock { state in
            let due = state.left.filter { $0.due <= now }
            state.left.removeAll { $0.due <= now }
            return due
        }
        for (track, claim, _) in due where track.lastClaim == claim {
            host.removeUnpublished(track.name, from: track.room)
        }
        let publishers = state.withLock { state -> [ServedPublisher] in
            guard now >= state.looksAt else { return [] }
            state.looksAt = now + .seconds(1)
            return state.publishers
        }
        if publishers.isEmpty { return }
        let tracks = host.tracks
        for publisher in publishers {
            if access.isExpired(publisher.track.room) {
                publisher.end(because: "the room's links have expired")
            } else if !tracks.contains(where: { $0 === publisher.track }) {
                publisher.end(because: "the track has been removed")
            }
        }
    }

    private func leave(_ publisher: ServedPublisher) {
        publisher.join()
        host.publisherLeft(publisher.id)
    }

    /// Ends all publishers. Returns when that is done.
    package func endAll(because reason: String) {
        let all = state.withLock { state in
            let all = state.publishers
            state.publishers = []
            return all
        }
        for publisher in all { publisher.end(because: reason) }
        for publisher in all {
            leave(publisher)
            _ = publisher.track.giveBackClaim()
        }
    }
}
