import Clocks
import Glibc
import LinkTransport
import MediaTypes
import RTMP
import ScreenRelayKit
import Synchronization
import Threading

/// A client that publishes into a track. A thread of its own reads its connection, so that decoding what it sends holds
/// back nobody else.
final class RTMPPublisher: Sendable {
    /// The state that is shared with the thread.
    final class Shared: Sendable {
        let wake: EventFD
        let isOver = Flag()
        /// Why the connection has to end.
        let ending = Mutex<String?>(nil)

        init?() {
            guard let wake = EventFD() else { return nil }
            self.wake = wake
        }
    }

    /// Its identifier among the participants of the room.
    let id: String
    /// The track that it publishes into.
    let track: HostedTrack
    private let shared: Shared
    private let thread: NamedThread

    /// Begins to publish. Nil if the process has no thread or descriptor left.
    ///
    /// - Parameters:
    ///   - id: its identifier among the participants of the room.
    ///   - client: the client, which belongs to the publisher's thread from now on.
    ///   - onEnd: called on the publisher's thread when it has ended.
    init?(
        _ id: String, _ client: RTMPClient, into track: HostedTrack, log: EventLog,
        onEnd: @escaping @Sendable () -> Void
    ) {
        guard let shared = Shared() else { return nil }
        let run = Sent(PublisherRun(client, track, shared, log))
        let body: @Sendable () -> Void = {
            run.value.run()
            shared.isOver.set()
            onEnd()
        }
        guard let thread = NamedThread("rtmp publisher", blocksSignals: true, body: body) else { return nil }
        (self.id, self.track, self.shared, self.thread) = (id, track, shared, thread)
    }

    /// Whether it has ended.
    var isOver: Bool { shared.isOver.isSet }

    /// Ends its connection, soon.
    func end(because reason: String) {
        shared.ending.withLock { $0 = $0 ?? reason }
        shared.wake.signal()
    }

    /// Waits until it has ended.
    func join() { thread.join() }
}

/// What a publisher's thread does.
private final class PublisherRun {
    private let client: RTMPClient
    private let shared: RTMPPublisher.Shared
    private let name: String
    private let log: EventLog
    private var relay: PublisherRelay
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    init(_ client: RTMPClient, _ track: HostedTrack, _ shared: RTMPPublisher.Shared, _ log: EventLog) {
        (self.client, self.shared, self.log) = (client, shared, log)
        name = "rtmp: \(client.address)"
        relay = PublisherRelay(name, into: track, log: log)
    }

    func run() {
        let place = "\(relay.track.room)/\(relay.track.name)"
        log.info("\(name) publishes \(place)")
        client.accept()
        while !client.isOver {
            passOn()
            if client.isOver { break }
            wait()
            if let reason = shared.ending.withLock({ $0 }) { client.end(because: reason) }
        }
        relay.end(reason: client.reason ?? "the publisher has left")
        log.info("\(name) has left \(place)" + (client.reason.map { ": \($0)" } ?? ""))
    }

    /// Passes on what has arrived.
    private func passOn() {
        while let event = client.next(now: .now()) {
            switch event {
            case .media(let media):
                if let refusal = relay.take(media, encoder: client.encoder) { client.refuse(refusal, now: .now()) }
            case .publish: client.refuse(.unusable("a connection publishes one stream"), now: .now())
            }
        }
    }

    private func wait() {
        let receives = MonotonicTime.now() >= client.receivesFrom
        let events = receives ? client.events : client.events & ~POLLIN
        var entries = [pollfd(shared.wake.descriptor), pollfd(client.connection.descriptor, events)]
        waitForEvents(&entries, until: receives ? client.deadline : min(client.deadline, client.receivesFrom))
        if entries[0].isReady { shared.wake.consume() }
        client.exchange(Int32(entries[1].revents), &buffer, now: .now())
    }
}
