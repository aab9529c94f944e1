import CLinux
import Clocks
import Glibc
import LinkTransport
import MediaTypes
import STUN
import ScreenRelayKit
import Synchronization
import Threading
import WebRTC

/// The server's thread: waits for connections, requests and frames.
///
/// A turn touches only the clients for which something is due. Each has a report and a look at its track due every
/// second, so that 500 players cause 1,000 turns per second.
final class RTSPLoop {
    /// How many connections are served at once. The kernel lets those that are still ready go last the next time.
    private static let servedAtOnce = 64

    /// The creator until ``run()``, and its thread from then on.
    private var owner = ThreadOwner()
    private let host: ScreenRelayHost
    private let access: ViewerAccess
    private let listener: SocketListener
    private let ports: RTSPPorts
    /// The numbers of the players that have something new.
    private let inbox: Mailbox<Int>
    private let isStopped: Flag
    private let limits: RTSPServerLimits
    private let counts: RTSPServer.Counts
    private let log: EventLog
    private let lines: LogRateLimiter
    /// The players' connections are in it, by their numbers.
    private let epoll: Int32
    private var ready = [shim_ready](repeating: shim_ready(), count: RTSPLoop.servedAtOnce)
    private var players = PlayerTable()
    private let served: ServedPublishers
    private var frames = PacketizedFrames()
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    /// Accepting failed; it is tried again then.
    private var acceptsFrom = MonotonicTime.zero

    /// - Throws: ``ServerError`` if no descriptor is left.
    init(
        _ host: ScreenRelayHost, _ served: ServedPublishers, listener: SocketListener, ports: RTSPPorts,
        inbox: Mailbox<Int>, isStopped: Flag, limits: RTSPServerLimits, counts: RTSPServer.Counts, log: EventLog
    ) throws(ServerError) {
        self.host = host
        self.served = served
        self.listener = listener
        self.ports = ports
        self.inbox = inbox
        self.isStopped = isStopped
        self.limits = limits
        self.counts = counts
        self.log = log
        lines = LogRateLimiter(log)
        access = ViewerAccess(of: host)
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        if epoll < 0 { throw ServerError("no file descriptor is left") }
    }

    deinit {
        if epoll >= 0 { close(epoll) }
    }

    func run() {
        owner = ThreadOwner()
        var entries = [
            pollfd(inbox.wake.descriptor), pollfd(listener.descriptor), pollfd(ports.rtp.descriptor),
            pollfd(ports.rtcp.descriptor), pollfd(epoll),
        ]
        while !isStopped.isSet {
            let accepts = MonotonicTime.now() >= acceptsFrom
            entries[1].fd = accepts ? listener.descriptor : -1
            let deadline = min(players.deadline, served.deadline)
            waitForEvents(&entries, until: min(deadline, accepts ? .distantFuture : acceptsFrom))
            if entries[0].isReady { inbox.wake.consume() }
            if entries[2].isReady || entries[3].isReady { takeDatagrams() }
            if entries[4].isReady { serveReady() }
            for number in inbox.take() {
                if let client = players[number] { advance(client) }
            }
            for client in players.takeDue(now: .now()) { advance(client) }
            if entries[1].isReady { accept() }
            served.look(under: access, now: .now())
        }
        listener.close()
        for client in players.all where client.session.recording != nil {
            client.end(because: "the host is ending")
        }
        served.endAll(because: "the host is ending")
        players = PlayerTable()
        counts.sessions.store(0, ordering: .relaxed)
    }

    // MARK: Players

    /// Sends what is due for a client.
    private func advance(_ client: RTSPClient, hasInput: Bool = false) {
        owner.check()
        client.wake.consume()
        client.advance(hasInput: hasInput, &frames, &buffer, now: .now())
        follow(client)
    }

    /// Waits for what the client waits for now, or removes it if it is over.
    private func follow(_ client: RTSPClient) {
        owner.check()
        if client.isOver {
            players.remove(client)
            frames.keep(only: players.all.compactMap(\.session.track))
        } else {
            players.update(client)
            let awaited = client.awaited
            if awaited != client.registered {
                let number = UInt64(client.number)
                _ = shim_epoll_set(
                    epoll, 0, client.connection.descriptor, number, awaited.reads ? 1 : 0, awaited.writes ? 1 : 0)
                client.registered = awaited
            }
        }
        counts.sessions.store(players.setUpCount, ordering: .relaxed)
    }

    private func takeDatagrams() {
        let now = MonotonicTime.now()
        var heard: [RTSPClient] = []
        ports.receive(&buffer) { bytes, peer, isReport in
            for client in players.sending(from: peer) {
                client.session.receive(bytes, from: peer, isReport: isReport, now: now)
                // A publisher sends many in a row.
                if heard.last !== client { heard.append(client) }
            }
        }
        for client in heard where !client.isOver { advance(client) }
    }

    /// Reads the requests that have come, and writes what waits where there is room.
    private func serveReady() {
        let count = shim_epoll_take(epoll, &ready, Int32(ready.count))
        for place in 0..<max(0, Int(count)) {
            let event = ready[place]
            guard let client = players[Int(truncatingIfNeeded: event.number)] else { continue }
            advance(client, hasInput: event.reads != 0)
        }
    }

    // MARK: Connections

    private func accept() {
        while true {
            do throws(SocketError) {
                guard let connection = try listener.accept() else { return }
                add(connection)
            } catch {
                // Without a free descriptor, the connection stays in the queue.
                acceptsFrom = .now() + .milliseconds(200)
                return log.warning("rtsp: \(error)")
            }
        }
    }

    private func add(_ connection: SocketConnection) {
        let remote =
            TransportAddress(peerOf: connection.descriptor) ?? TransportAddress(ipv4: 0, 0, 0, 0, port: 0)
        guard makeRoom(for: remote.host) else {
            return lines(of: remote.host).warning("rtsp: too many players are connected; one is turned away")
        }
        let number = players.takeNumber()
        let wake = PlayerWake(number, inbox)
        let session = RTSPSession(
            connection, of: remote, host: host, access: access, ports: ports, served: served, wake: wake,
            limits: limits, lines: lines)
        let client = RTSPClient(number, connection, session, wake)
        players.add(client)
        if shim_epoll_set(epoll, 1, connection.descriptor, UInt64(number), 1, 0) != 0 { client.end(because: nil) }
        follow(client)
    }

    /// Makes room for one more connection from `address` by ending the oldest of a client that has found no track yet,
    /// of the address that has the most, so that those who only connect keep no player out.
    private func makeRoom(for address: String) -> Bool {
        let key = ClientAddress.key(address)
        let isOfAddress = { (client: RTSPClient) in ClientAddress.key(client.session.address) == key }
        let open = players.all
        let mayGo: RTSPClient?
        if !Loopback.contains(address), open.count(where: isOfAddress) >= limits.connectionsOfAddress {
            mayGo = open.first { !$0.session.isAdmitted && isOfAddress($0) }
        } else if open.count >= limits.connections {
            mayGo = Crowd.firstToGo(of: open.filter { !$0.session.isAdmitted }) {
                Loopback.contains($0.session.address) ? nil : $0.session.address
            }
        } else {
            return true
        }
        guard let leaving = mayGo else { return false }
        leaving.end(because: nil)
        follow(leaving)
        return true
    }
}
