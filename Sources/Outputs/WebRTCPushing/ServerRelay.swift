import CGLib
import Clocks
import Glibc
public import MediaTypes
import SDP
import STUN
import Threading

/// Relays a session to its server through a TURN server that the server has named, for networks that block UDP.
///
/// Each address of the server has a UDP port on loopback, which the session treats as an additional candidate.
/// Datagrams that the media port sends there go to the TURN server over TCP or TLS, and replies come back the same way.
/// The media thread is unchanged, and only sessions that need the relay pay for the extra pass through the kernel.
///
/// It runs on its own thread, and ends when this object is released.
public final class ServerRelay: Sendable {
    /// How long a session may try to connect without the relay.
    public static let delay = Interval.seconds(1)
    /// The most addresses of the server that are relayed to.
    private static let peerLimit = 4
    /// The number of pieces from the connection or from the session that are handled in a row.
    private static let piecesAtOnce = 64

    private let run: Run
    private let thread: NamedThread

    /// Prepares a relay to the server whose session has these descriptions; nil if the answer has no address that a
    /// TURN server could relay to, or if the system has no thread left.
    ///
    /// - Parameters:
    ///   - delay: when it is begun unless ``settle()`` is called before.
    ///   - onPath: called on the relay's thread with a candidate line for each address, once the TURN server relays.
    public init?(
        by servers: NamedServers, offer: String, answer: String, after delay: Interval = ServerRelay.delay,
        onPath: @escaping @Sendable (_ candidate: String) -> Void
    ) {
        let peers = Self.peers(in: answer)
        guard let ufrag = (try? SessionDescription(parsing: offer))?.media.first?.iceUfrag, !peers.isEmpty,
            !servers.servers.isEmpty, let run = Run(servers, peers: peers, ufrag: ufrag, onPath: onPath)
        else { return nil }
        let start = MonotonicTime.now() + delay
        let thread = NamedThread("relay", blocksSignals: true) { run.run(from: start) }
        guard let thread else { return nil }
        self.run = run
        self.thread = thread
    }

    deinit { run.end() }

    /// Gives up a relay that hasn't been begun: the session is connected without it.
    public func settle() { run.life.settle() }

    /// Ends it, and waits until the TURN server knows of that, but no longer than until `deadline`. Not on its own
    /// thread.
    package func close(until deadline: MonotonicTime) {
        run.end()
        thread.join(until: deadline)
    }

    /// The IPv4 addresses of UDP in the first section, in the server's order of preference. TURN servers give IPv4
    /// addresses unless they are asked for others.
    static func peers(in answer: String) -> [TransportAddress] {
        let candidates = (try? SessionDescription(parsing: answer))?.media.first?.candidates ?? []
        var found: [TransportAddress] = []
        for candidate in candidates.sorted(by: { $0.priority > $1.priority })
        where candidate.transport == "udp" && candidate.component == 1 && candidate.port != 0 {
            let parts = candidate.address.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
            let bytes = parts.compactMap { $0 }
            guard parts.count == 4, let address = TransportAddress(bytes: bytes, port: candidate.port),
                !found.contains(address)
            else { continue }
            found.append(address)
        }
        return Array(found.prefix(peerLimit))
    }

    /// The work of the relay's thread.
    private final class Run: Sendable {
        private let servers: NamedServers
        private let peers: [TransportAddress]
        private let ufrag: String
        private let onPath: @Sendable (String) -> Void
        let life: RelayLife
        /// Safe on any thread (GCancellable is), and alive until `deinit`.
        private nonisolated(unsafe) let cancellable: UnsafeMutablePointer<GCancellable>

        init?(
            _ servers: NamedServers, peers: [TransportAddress], ufrag: String,
            onPath: @escaping @Sendable (String) -> Void
        ) {
            guard let life = RelayLife(), let cancellable = g_cancellable_new() else { return nil }
            self.servers = servers
            self.peers = peers
            self.ufrag = ufrag
            self.onPath = onPath
            self.life = life
            self.cancellable = cancellable
        }

        deinit { g_object_unref(cancellable) }

        func end() {
            life.end()
            g_cancellable_cancel(cancellable)
        }

        func run(from start: MonotonicTime) {
            guard life.begin(at: start) else { return }
            for server in servers.servers where !life.isOver {
                guard let stream = try? RelayStream(server, nearest: servers.nearest, cancellable) else { continue }
                // Once sessions use it, another one would come too late for them.
                if relay(stream, server) { return }
            }
        }

        /// Relays until the end; returns whether the server has taken that on.
        private func relay(_ stream: RelayStream, _ server: NamedServers.Relay) -> Bool {
            let ports = peers.compactMap { _ in RelayPort(of: ufrag) }
            guard ports.count == peers.count else { return false }
            var client = TURNClient(user: server.user, password: server.password, peers: peers, now: .now())
            var (isReady, outgoing) = (false, [UInt8]())
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            var entries =
                [pollfd(stream.descriptor), pollfd(life.wake.descriptor)] + ports.map { pollfd($0.descriptor) }
            do throws(TURNClient.TURNError) {
                while !life.isOver {
                    outgoing += client.takeOutgoing()
                    guard stream.write(&outgoing) else { return isReady }
                    // Data that the server doesn't accept yet waits at the session's ports, which drop the excess.
                    entries[0].events = Int16(POLLIN | (outgoing.isEmpty ? 0 : POLLOUT))
                    for (index, port) in ports.enumerated() {
                        entries[2 + index].fd = outgoing.isEmpty ? port.descriptor : -1
                    }
                    waitForEvents(&entries, until: client.deadline)
                    if entries[1].isReady { life.wake.consume() }
                    let now = MonotonicTime.now()
                    if entries[0].isReady {
                        guard try read(stream, &client, to: ports, &buffer, now: now) else { return isReady }
                    }
                    if outgoing.isEmpty { collect(ports, &client, &buffer) }
                    try client.poll(now: now)
                    if !isReady, client.isReady {
                        isReady = true
                        for (index, port) in ports.enumerated() where client.bound.contains(index) {
                            onPath(port.candidate(index))
                        }
                    }
                }
            } catch {
                return isReady
            }
            client.end()
            outgoing += client.takeOutgoing()
            _ = stream.write(&outgoing)
            return isReady
        }

        /// Returns false once the connection is over.
        private func read(
            _ stream: RelayStream, _ client: inout TURNClient, to ports: [RelayPort], _ buffer: inout [UInt8],
            now: MonotonicTime
        ) throws(TURNClient.TURNError) -> Bool {
            // TLS may hold more than the socket says; a socket that is ready again wakes the next turn.
            for _ in 0..<ServerRelay.piecesAtOnce {
                guard let count = stream.read(into: &buffer) else { return false }
                if count == 0 { return true }
                try client.take(buffer[..<count], now: now) { ports[$1].send($0) }
            }
            return true
        }

        private func collect(_ ports: [RelayPort], _ client: inout TURNClient, _ buffer: inout [UInt8]) {
            for (index, port) in ports.enumerated() {
                for _ in 0..<ServerRelay.piecesAtOnce {
                    guard let datagram = port.receive(into: &buffer) else { break }
                    client.send(datagram, to: index)
                }
            }
        }
    }
}
