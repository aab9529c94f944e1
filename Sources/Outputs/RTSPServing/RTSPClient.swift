import CLinux
import Glibc
import LinkTransport
import MediaTypes
import RTSP
import STUN

/// One player's connection: reads the requests for its session, and ends with it. Belongs to the server's thread.
final class RTSPClient {
    /// The server's number for it.
    let number: Int
    let connection: SocketConnection
    let session: RTSPSession
    /// Signalled when there is something new for its session.
    let wake: PlayerWake
    /// What the kernel was last asked to wait for. Managed by the server's thread.
    var registered = (reads: true, writes: false)
    /// Whether it plays, and where its datagrams come from.
    typealias Facts = (isSetUp: Bool, addresses: [TransportAddress])
    /// What the table of players has taken up. Managed by the table.
    var noted: Facts = (false, [])
    private var reader = RTSPReader()
    /// Nothing more is read or sent, and the connection ends once all is written, or then.
    private var endsBy: MonotonicTime?
    private(set) var isOver = false

    /// While more than this waits to be written, no further request is read.
    private static let maxUnwritten = 256 << 10

    init(_ number: Int, _ connection: SocketConnection, _ session: RTSPSession, _ wake: PlayerWake) {
        self.number = number
        self.connection = connection
        self.session = session
        self.wake = wake
        keepLittleUnsent()
    }

    /// Makes the kernel accept little more than the peer has room for, so that a slow player isn't sent seconds of old
    /// pictures.
    private func keepLittleUnsent() {
        var value: Int32 = 128 << 10
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(connection.descriptor, Int32(IPPROTO_TCP), shim_TCP_NOTSENT_LOWAT, &value, size)
    }

    /// While a description waits, so do the requests after it: answers come in the order of their requests.
    private var takesRequests: Bool {
        !session.isWaiting && endsBy == nil && connection.pendingBytes < Self.maxUnwritten
    }

    /// What the kernel has to wait for.
    var awaited: (reads: Bool, writes: Bool) { (takesRequests, connection.wantsWrite) }

    /// When `advance` has something to do.
    var deadline: MonotonicTime { min(session.deadline, endsBy ?? .distantFuture) }

    /// Reads and answers what has come, and sends what is due.
    ///
    /// - Parameter hasInput: whether the connection can be read from, has failed or was closed by the player.
    func advance(
        hasInput: Bool, _ packets: inout PacketizedFrames, _ buffer: inout [UInt8], now: MonotonicTime
    ) {
        do {
            if connection.wantsWrite { try connection.flush() }
            if hasInput {
                // While nothing is read, only the end is reported.
                guard takesRequests else { return end(because: "the connection is gone") }
                try read(&buffer, now: now)
            }
            if try session.answerWaiting(now: now) { try handleRequests(now: now) }
            try session.advance(&packets, now: now)
        } catch {
            return end(because: "the connection has failed: \(error)")
        }
        if let endsBy, !connection.hasPending || now >= endsBy { return end(because: nil) }
        if let reason = session.reasonToEnd(now: now) { end(because: reason) }
    }

    private func read(_ buffer: inout [UInt8], now: MonotonicTime) throws(SocketError) {
        switch try connection.receive(into: &buffer) {
        case .wouldBlock: return
        case .closed: return end(because: nil)
        case .bytes(let count): reader.append(buffer[..<count])
        }
        session.lastSign = now
        try handleRequests(now: now)
    }

    private func handleRequests(now: MonotonicTime) throws(SocketError) {
        while takesRequests {
            let item: RTSPReader.Item?
            do throws(RTSPError) {
                item = try reader.next()
            } catch {
                endAfterAnswer(now: now)
                return try connection.enqueue(header: error.answer.bytes(to: nil))
            }
            switch item {
            case nil: return
            case .packet(let channel, let bytes)?: session.receive(bytes, on: channel, now: now)
            case .request(let request)?: try session.handle(request, now: now)
            }
            if session.isRefused { endAfterAnswer(now: now) }
        }
    }

    /// Ends the connection once the last answer is written.
    private func endAfterAnswer(now: MonotonicTime) {
        endsBy = now + .seconds(2)
        session.end(because: nil)
    }

    /// Ends the connection at once.
    func end(because reason: String?) {
        guard !isOver else { return }
        session.end(because: reason)
        connection.close()
        isOver = true
    }
}
