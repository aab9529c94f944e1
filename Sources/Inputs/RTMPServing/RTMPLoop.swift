import Clocks
import Glibc
import LinkTransport
import MediaTypes
import RTMP
import ScreenRelayKit
import SecureTransport
import Threading

/// The server's thread: waits for connections, and serves each one until it publishes, which has a thread of its own.
final class RTMPLoop {
    /// The creator until ``run()``, and its thread from then on.
    private var owner = ThreadOwner()
    private let host: ScreenRelayHost
    private let served: ServedPublishers
    private let access: ViewerAccess
    private let listener: SocketListener
    private let wake: EventFD
    private let isStopped: Flag
    private let limits: PublisherLimits
    private let connections: Int
    private let log: EventLog
    private let lines: LogRateLimiter
    /// For clients that begin with TLS, with the host's certificate, whose PEM this is; nil if it has none.
    private var encryption: SocketEncryption?
    private var certificate: String?
    /// The clients that don't publish yet, the oldest first.
    private var clients: [RTMPClient] = []
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    /// Accepting failed; it is tried again then.
    private var acceptsFrom = MonotonicTime.zero

    /// - Throws: `encryption` if the host's certificate can't be used.
    init(
        _ host: ScreenRelayHost, _ served: ServedPublishers, listener: SocketListener, wake: EventFD, isStopped: Flag,
        limits: PublisherLimits, connections: Int, log: EventLog
    ) throws(SocketError) {
        self.host = host
        self.served = served
        self.listener = listener
        self.wake = wake
        self.isStopped = isStopped
        self.limits = limits
        self.connections = connections
        self.log = log
        lines = LogRateLimiter(log)
        access = ViewerAccess(of: host)
        try readCertificate()
    }

    func run() {
        owner = ThreadOwner()
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
            served.look(under: access, now: now)
        }
        listener.close()
        for client in clients { client.end(because: nil) }
        served.endAll(because: "the host is ending")
    }

    private func deadline(accepts: Bool) -> MonotonicTime {
        var deadline = accepts ? served.deadline : min(served.deadline, acceptsFrom)
        for client in clients { deadline = min(deadline, client.deadline) }
        return deadline
    }

    // MARK: Clients

    /// Uses the certificate that the host has now: it may have been reloaded.
    private func readCertificate() throws(SocketError) {
        guard let pem = host.configuration.certificate?.pem, pem != certificate else { return }
        // One that can't be used is reported once.
        certificate = pem
        encryption = try SocketEncryption(certificate: pem)
    }

    private func accept() {
        owner.check()
        while true {
            do throws(SocketError) {
                try readCertificate()
                guard let connection = try listener.accept(offering: encryption) else { return }
                if clients.count >= connections {
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
        owner.check()
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
        let place = ServedPublishers.Place(
            room: place.room, track: place.track, token: place.token, password: place.password)
        if let refusal = served.refusal(of: client.address, to: place, under: access) { return RTMPRefusal(refusal) }
        guard let ending = EventFD() else {
            client.end(because: nil)
            log.error("rtmp: no descriptor is left for a publisher")
            return nil
        }
        let publisher: ServedPublisher
        do throws(PublisherRefusal) {
            publisher = try served.claim(place, for: client.address) { ending.signal() }
        } catch {
            return RTMPRefusal(error)
        }
        client.handOver(silence: limits.silence, bytesPerSecond: limits.bytesPerSecond)
        let run = Sent(RTMPPublisherRun(client, publisher, ending: ending, log: lines(of: client.address)))
        let isStarted = served.start(publisher) { run.value.run() }
        if !isStarted {
            client.end(because: nil)
            log.error("rtmp: no thread is left for a publisher")
        }
        return nil
    }
}
