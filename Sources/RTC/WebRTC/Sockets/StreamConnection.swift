import CLinux
import Glibc
import MediaSessions
import MediaTypes
import STUN

/// A TCP connection over which a peer sends and gets datagrams. Non-blocking.
///
/// Bytes that the kernel doesn't accept wait in a backlog, which is bounded; beyond it, whole datagrams are lost, as on
/// any full queue on a path. Belongs to the media thread; closed on destruction.
final class StreamConnection {
    /// The maximum number of bytes that wait for the kernel. Pictures stop at the first packet that has to wait, so the
    /// room is for reports and retransmissions.
    static let backlogLimit = 96 << 10

    let descriptor: Int32
    /// The connection's two ends.
    let path: NetworkPath
    let openedAt: MonotonicTime
    /// The session whose peer has proved itself here, and which the connection is for; nil before that.
    var session: MediaSessionID? {
        didSet { if session != nil { admission.prove(path.peer.connection) } }
    }
    /// The time at which something last arrived.
    var heardAt: MonotonicTime
    var framing: StreamFraming
    private var backlog: [UInt8] = []
    private let admission: StreamAdmission

    /// Takes ownership of an accepted connection, and distinguishes its addresses from others by `number`. Nil if the
    /// peer has gone already.
    init?(
        owning descriptor: Int32, number: UInt32, of admission: StreamAdmission, maxLength: Int, now: MonotonicTime
    ) {
        guard let peer = TransportAddress(peerOf: descriptor), let local = TransportAddress(localEndOf: descriptor)
        else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        path = NetworkPath(peer: peer.over(connection: number), local: local)
        openedAt = now
        heardAt = now
        framing = StreamFraming(maxLength: maxLength)
        self.admission = admission
    }

    deinit {
        close(descriptor)
    }

    /// Whether datagrams wait for the kernel.
    var hasBacklog: Bool { !backlog.isEmpty }

    /// Reads the bytes that have arrived, as far as they fit into `buffer`. Returns the number of bytes, 0 if there are
    /// none; nil if the peer has closed the connection, or it has failed.
    func read(into buffer: inout [UInt8]) -> Int? {
        let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count < 0 { return errno == EAGAIN || errno == EINTR ? 0 : nil }
        return count == 0 ? nil : count
    }

    /// Sends `datagram`, or keeps it until there is room. It is lost if the backlog is full, or if the connection has
    /// failed.
    ///
    /// - Returns: false if the backlog is full.
    func send(_ datagram: [UInt8]) -> Bool {
        guard let length = UInt16(exactly: datagram.count) else { return true }
        var sent = 0
        if backlog.isEmpty {
            sent = datagram.withUnsafeBytes { shim_tcp_send_framed(descriptor, $0.baseAddress, $0.count) }
            // epoll reports a connection that has failed, and reading from it ends it.
            if sent < 0, errno != EAGAIN, errno != EINTR { return true }
            sent = max(0, sent)
        }
        let frameLength = 2 + datagram.count
        guard sent < frameLength else { return true }
        // The rest of a frame that was begun can't be left out.
        guard sent > 0 || backlog.count + frameLength <= Self.backlogLimit else { return false }
        backlog += [UInt8(length >> 8), UInt8(length & 0xff)].dropFirst(sent)
        backlog += datagram.dropFirst(max(0, sent - 2))
        return true
    }

    /// Sends what waits, as far as there is room.
    func flush() {
        let sent = backlog.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if sent >= backlog.count { backlog = [] } else if sent > 0 { backlog.removeFirst(sent) }
    }
}
