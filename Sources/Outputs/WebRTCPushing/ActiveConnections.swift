import Clocks
import Glibc
import LinkTransport
package import MediaTypes
import SDP
import STUN
import Threading

/// Carries a session to its server over TCP, for networks that block UDP: connects to the passive candidates that the
/// server has named (RFC 6544). As with ``ServerRelay``, each of them has a UDP port on loopback, which the session
/// treats as an additional candidate.
///
/// It runs on its own thread, and ends when this object is released.
package final class ActiveConnections: Sendable {
    /// The most candidates that are connected to.
    private static let limit = 4

    private let life: RelayLife
    private let thread: NamedThread

    /// Prepares connections for the session that has these descriptions; nil if the answer has no candidate to connect
    /// to, or if the system has no thread left.
    ///
    /// - Parameters:
    ///   - nearest: the nearest address that is connected to: a server elsewhere must not choose what is reached behind
    ///     a firewall.
    ///   - delay: when to connect unless ``settle()`` is called before.
    ///   - onPath: called on the thread with a candidate line for each connection, once it is there.
    package init?(
        offer: String, answer: String, nearest: Nearness, after delay: Interval = ServerRelay.delay,
        onPath: @escaping @Sendable (_ candidate: String) -> Void
    ) {
        let candidates = Self.candidates(in: answer, nearest: nearest)
        guard let ufrag = (try? SessionDescription(parsing: offer))?.media.first?.iceUfrag, !candidates.isEmpty,
            let life = RelayLife()
        else { return nil }
        let start = MonotonicTime.now() + delay
        let thread = NamedThread("tcp path", blocksSignals: true) {
            if life.begin(at: start) { Self.run(life, candidates, ufrag, onPath) }
        }
        guard let thread else { return nil }
        self.life = life
        self.thread = thread
    }

    deinit { life.end() }

    /// Gives up connections that haven't been begun: the session is connected without them.
    package func settle() { life.settle() }

    /// The passive candidates of the first section, in the server's order of preference. Names aren't looked up.
    static func candidates(in answer: String, nearest: Nearness) -> [Candidate] {
        let candidates = (try? SessionDescription(parsing: answer))?.media.first?.candidates ?? []
        let usable = candidates.filter {
            $0.transport == "tcp" && $0.tcpType == "passive" && $0.component == 1 && $0.port != 0
                && AddressRange($0.address) != nil && Nearness($0.address) <= nearest
        }
        return Array(usable.sorted { $0.priority > $1.priority }.prefix(limit))
    }

    private static func run(
        _ life: RelayLife, _ candidates: [Candidate], _ ufrag: String,
        _ onPath: @escaping (String) -> Void
    ) {
        var connections = candidates.enumerated().compactMap { index, candidate in
            ActiveConnection(to: candidate, of: ufrag) { onPath($0.tcpCandidate(index)) }
        }
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var entries: [pollfd] = []
        while !life.isOver, !connections.isEmpty {
            entries.removeAll(keepingCapacity: true)
            entries.append(pollfd(life.wake.descriptor))
            for connection in connections { entries += connection.entries }
            waitForEvents(&entries)
            if entries[0].isReady { life.wake.consume() }
            connections = connections.enumerated().filter { index, connection in
                connection.serve(entries[1 + 2 * index], entries[2 + 2 * index], &buffer)
            }.map(\.element)
        }
    }
}

/// One of the connections, over which each datagram has its length in front (RFC 4571). For one thread, which never
/// waits here.
private final class ActiveConnection {
    /// The longest datagram that a peer has reason to send, in bytes.
    private static let maxDatagram = 2048
    /// About how many bytes the kernel keeps unsent, as of the media's own TCP connections.
    private static let unsentLimit: Int32 = 16 << 10
    /// How many pieces are handled in a row.
    private static let piecesAtOnce = 64

    private let socket: FileDescriptor
    private let ufrag: String
    private let onOpen: (RelayPort) -> Void
    /// Nil until it is connected.
    private var port: RelayPort?
    private var framing = StreamFraming(maxLength: ActiveConnection.maxDatagram)
    /// The bytes that the kernel hasn't taken yet.
    private var outgoing: [UInt8] = []

    /// Begins to connect; nil if that fails at once. `onOpen` is called once it is connected.
    init?(to candidate: Candidate, of ufrag: String, onOpen: @escaping (RelayPort) -> Void) {
        guard
            let socket = connectingSocket(to: candidate.address, port: candidate.port, unsent: Self.unsentLimit)
        else { return nil }
        self.ufrag = ufrag
        self.onOpen = onOpen
        self.socket = socket
    }

    /// What is waited for: the connection, and then the session's port, where datagrams wait that the connection
    /// doesn't take yet, and which drops the excess.
    var entries: [pollfd] {
        let waits = port == nil || !outgoing.isEmpty
        return [
            pollfd(socket.rawValue, waits ? POLLIN | POLLOUT : POLLIN),
            pollfd(outgoing.isEmpty ? port?.descriptor ?? -1 : -1),
        ]
    }

    /// Handles what has happened to its ``entries``. Returns false once the connection is over.
    func serve(_ connection: pollfd, _ waiting: pollfd, _ buffer: inout [UInt8]) -> Bool {
        if port == nil {
            guard connection.isReady else { return true }
            return open()
        }
        if connection.isReady, !receive(&buffer) { return false }
        if waiting.isReady { collect(&buffer) }
        flush()
        return true
    }

    private func open() -> Bool {
        guard connectionError(of: socket.rawValue) == 0, let port = RelayPort(of: ufrag) else { return false }
        self.port = port
        onOpen(port)
        return true
    }

    /// Passes on what the server has sent. Returns false at the end of the connection.
    private func receive(_ buffer: inout [UInt8]) -> Bool {
        for _ in 0..<Self.piecesAtOnce {
            let count = buffer.withUnsafeMutableBytes { recv(socket.rawValue, $0.baseAddress, $0.count, 0) }
            if count < 0, errno == EAGAIN || errno == EINTR { return true }
            guard count > 0 else { return false }
            var rest = buffer[..<count]
            do throws(StreamFraming.DatagramTooLongError) {
                while let datagram = try framing.next(from: &rest) { port?.send(datagram) }
            } catch {
                return false
            }
        }
        return true
    }

    /// Takes what the session has sent.
    private func collect(_ buffer: inout [UInt8]) {
        for _ in 0..<Self.piecesAtOnce {
            guard let datagram = port?.receive(into: &buffer) else { return }
            outgoing += [UInt8(datagram.count >> 8), UInt8(datagram.count & 0xFF)]
            outgoing += datagram
        }
    }

    /// Sends what waits, as far as there is room. Reading reports a connection that has failed.
    private func flush() {
        guard !outgoing.isEmpty else { return }
        let sent = outgoing.withUnsafeBytes { send(socket.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if sent > 0 { outgoing.removeFirst(sent) }
    }
}
