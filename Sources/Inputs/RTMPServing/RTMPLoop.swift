import Clocks
import Glibc
import LinkTransport
import MediaTypes
import RTMP
import ScreenRelayKit
import Synchronization
import Threading

/// The server's thread: waits for connections, and serves each one until it publishes, which has a thread of its own.
final class RTMPLoop {
    private let host: ScreenRelayHost
    private let access: ViewerAccess
    private let listener: LinkListener
    private let wake: EventFD
    private let isStopped: Flag
    private let limits: RTMPServerLimits
    private let counts: RTMPServer.Counts
    private let log: EventLog
    private let lines: LogRateLimiter
    /// The clients that don't publish yet, the oldest first.
    private var clients: [RTMPClient] = []
    private var publishers: [RTMPPublisher] = []
    /// How many publishers have been accepted, for their identifiers.
    private var acceptedCount = 0
    /// Tracks whose publisher has left, and when they are removed unless another one has come.
    private var left: [(track: HostedTrack, due: MonotonicTime)] = []
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    /// Accepting failed; it is tried again then.
    private var acceptsFrom = MonotonicTime.zero
    /// When to look again whether publishers' links have expired, or their tracks have been removed.
    private var looksAt = MonotonicTime.zero

    init(
        _ host: ScreenRelayHost, listener: LinkListener, wake: EventFD, isStopped: Flag, limits: RTMPServerLimits,
        counts: RTMPServer.Counts, log: EventLog
    ) {
        (self.host, self.listener, self.wake, self.isStopped) = (host, listener, wake, isStopped)
        (self.limits, self.counts, self.log) = (limits, counts, log)
        lines = LogRateLimiter(log)
        access = ViewerAccess(of: host)
    }

    func run() {
        var entries: [pollfd] = []
        while !isStopped.isSet {
            let accepts = MonotonicTime.now() >= acceptsFrom
            entries.removeAll(keepingCapacity: true)
            entries.append(pollfd(wake.descriptor))
            entries.append(pollfd(accepts ? listener.descriptor : -1))
            for client in clients { entries.append(pollfd(client.connection.descriptor, client.events)) }
            waitForEvents(&entries, until: deadline(accepts: accepts))
            let now = MonotonicTime.now()
            if entries[0].isReady { wake.consume() }
            var remaining: [RTMPClient] = []
            for (index, client) in clients.enumerated() {
                client.exchange(Int32(entries[2 + index].revents), &buffer, now: now)
                if serve(client, now: now) { remaining.append(client) }
            }
            clients = remaining
            if entries[1].isReady { accept() }
            removeEnded(now: now)
            lookAtPublishers(now: now)
            counts.publishers.store(publishers.count, ordering: .relaxed)
        }
        listener.close()
        for client in clients { client.end(because: nil) }
        for publisher in publishers { publisher.end(because: "the host is ending") }
        for publisher in publishers {
            publisher.join()
            host.publisherLeft(publisher.id)
        }
        counts.publishers.store(0, ordering: .relaxed)
    }

    private func deadline(accepts: Bool) -> MonotonicTime {
        var deadline = accepts ? MonotonicTime.distantFuture : acceptsFrom
        for client in clients { deadline = min(deadline, client.deadline) }
        for track in left { deadline = min(deadline, track.due) }
        return publishers.isEmpty ? deadline : min(deadline, looksAt)
    }

    // MARK: Clients

    private func accept() {
        while true {
            do throws(LinkTransportError) {
                guard let connection = try listener.accept() else { return }
                if clients.count >= limits.connections {
                    let first = Crowd.firstToGo(of: clients.filter { !$0.isOver }) { client in
                        Loopback.contains(client.address) ? nil : client.address
                    }
                    first?.end(because: nil)
                    clients.removeAll { $0.isOver }
                }
                clients.append(RTMPClient(connection, until: .now() + limits.greeting))
            } catch {
                // Without a free descriptor, the connection stays in the queue.
                acceptsFrom = .now() + .milliseconds(200)
                return log.warning("rtmp: \(error)")
            }
        }
    }

    /// Answers what a client has sent. Returns false if it has ended, or belongs to its publisher's thread now.
    private func serve(_ client: RTMPClient, now: MonotonicTime) -> Bool {
        while let event = client.next(now: now) {
            // Nothing is published before it was accepted.
            guard case .publish(let place) = event else { continue }
            guard let refusal = start(client, place) else { return false }
            lines(of: client.address).info("rtmp: \(client.address) was refused: \(refusal)")
            client.refuse(refusal, now: now)
        }
        if client.isOver, !client.isRefused, let reason = client.reason {
            lines(of: client.address).info("rtmp: \(client.address) has ended: \(reason)")
        }
        return !client.isOver
    }

    /// Starts to publish what a client sends into a place: the client then belongs to the publisher's thread. Returns
    /// why that isn't possible, or nil.
    private func start(_ client: RTMPClient, _ place: RTMPPlace) -> RTMPRefusal? {
        let room = place.room ?? host.room
        guard access.letsPresent(client.address, in: room, token: place.token, password: place.password) else {
            return .unauthorized
        }
        if let reason = host.sessionRefusal() { return .unusable(reason) }
        guard publishers.count < limits.publishers else {
            return .unusable("the host already has \(limits.publishers) publishers over RTMP")
        }
        let name = place.track ?? host.tracks.first(where: { $0.room == room })?.name ?? "screen"
        let track: HostedTrack
        do throws(HostError) {
            track = try host.publishableTrack(name, in: room)
        } catch {
            return .unusable("\(error)")
        }
        guard !track.hasSource, !publishers.contains(where: { $0.track === track }) else { return .occupied(track) }
        client.handOver(silence: limits.silence, bytesPerSecond: limits.bytesPerSecond)
        acceptedCount += 1
        let (id, address) = ("publisher-rtmp-\(acceptedCount)", client.address)
        let publisher = RTMPPublisher(id, client, into: track, log: lines(of: address)) { [wake] in wake.signal() }
        guard let publisher else {
            client.end(because: nil)
            log.error("rtmp: no thread or descriptor is left for a publisher")
            removeLater(track)
            return nil
        }
        publishers.append(publisher)
        host.publisherCame(id, from: address, into: track) {
            publisher.end(because: "it was removed from the room")
        }
        return nil
    }

    // MARK: Publishers

    private func removeEnded(now: MonotonicTime) {
        let ended = publishers.filter(\.isOver)
        for publisher in ended {
            publisher.join()
            host.publisherLeft(publisher.id)
            removeLater(publisher.track)
        }
        publishers.removeAll { publisher in ended.contains { $0 === publisher } }
        let due = left.filter { $0.due <= now }
        left.removeAll { $0.due <= now }
        for (track, _) in due where !publishers.contains(where: { $0.track === track }) {
            host.removeUnpublished(track.name, from: track.room)
        }
    }

    /// Removes a track after a while if it was made for a publisher, unless it has another one by then.
    private func removeLater(_ track: HostedTrack) {
        left.removeAll { $0.track === track }
        left.append((track: track, due: MonotonicTime.now() + limits.unpublished))
    }

    private func lookAtPublishers(now: MonotonicTime) {
        guard now >= looksAt else { return }
        looksAt = now + .seconds(1)
        let tracks = host.tracks
        for publisher in publishers {
            if access.isExpired(publisher.track.room) {
                publisher.end(because: "the room's links have expired")
            } else if !tracks.contains(where: { $0 === publisher.track }) {
                publisher.end(because: "the track has been removed")
            }
        }
    }
}

extension RTMPRefusal {
    /// The refusal for a track that has another source.
    static func occupied(_ track: HostedTrack) -> RTMPRefusal {
        .taken(
            "the track \(track.name) already has a source; the stream key ROOM/TRACK?token=TOKEN makes another track")
    }
}
