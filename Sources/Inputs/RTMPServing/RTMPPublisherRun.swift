import Clocks
import Glibc
import LinkTransport
import MediaTypes
import RTMP
import ScreenRelayKit
import Threading

/// What a publisher's thread does: reads its connection, and feeds its track.
final class RTMPPublisherRun {
    private let client: RTMPClient
    private let publisher: ServedPublisher
    /// Signalled when the connection has to end.
    private let ending: EventFD
    private let name: String
    private let log: EventLog
    private var relay: RTMPRelay
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// - Parameter client: the client, which belongs to the publisher's thread from now on.
    init(_ client: RTMPClient, _ publisher: ServedPublisher, ending: EventFD, log: EventLog) {
        self.client = client
        self.publisher = publisher
        self.ending = ending
        self.log = log
        name = "rtmp: \(client.address)"
        relay = RTMPRelay(name, into: publisher.track, log: log)
    }

    func run() {
        let place = "\(publisher.track.room)/\(publisher.track.name)"
        log.info("\(name) publishes \(place)")
        client.accept()
        while !client.isOver {
            passOn()
            if client.isOver { break }
            wait()
            if let reason = publisher.ending { client.end(because: reason) }
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
        var entries = [pollfd(ending.descriptor), pollfd(client.connection.descriptor, events)]
        waitForEvents(&entries, until: receives ? client.deadline : min(client.deadline, client.receivesFrom))
        if entries[0].isReady { ending.consume() }
        client.exchange(Int32(entries[1].revents), &buffer, now: .now())
    }
}
