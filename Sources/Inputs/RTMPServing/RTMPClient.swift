import Clocks
import Glibc
import LinkTransport
import MediaTypes
import RTMP
import ScreenRelayKit

/// One client's connection. Belongs to the server's thread, and to its publisher's once it publishes.
final class RTMPClient {
    /// What a client sends, as far as it isn't answered here.
    enum Event {
        case publish(RTMPPlace)
        case media(RTMPMedia)
    }

    let connection: SocketConnection
    /// The address of the client's machine.
    let address: String
    private var conversation = RTMPConversation()
    /// The longest silence of a publisher; nil until it publishes.
    private var silence: Interval?
    /// How much a publisher may send; nil until it publishes.
    private var rate: PublisherRate?
    /// When the client must have published, or sent something.
    private var awaitedUntil: MonotonicTime
    /// After the last answer: the connection ends when the client has closed it, or then.
    private var endsBy: MonotonicTime?
    private(set) var isOver = false
    /// Why the connection has ended; nil if the client has left.
    private(set) var reason: String?

    /// While more than this waits to be written, the client reads none of its answers.
    private static let maxUnwritten = 64 << 10
    private static let farewell = Interval.seconds(2)

    /// - Parameter deadline: when the client must publish.
    init(_ connection: SocketConnection, until deadline: MonotonicTime) {
        self.connection = connection
        awaitedUntil = deadline
        address = connection.remote ?? ""
    }

    /// What `poll` has to wait for.
    var events: Int32 { POLLIN | (connection.wantsWrite ? POLLOUT : 0) }
    /// When `exchange` has something to do.
    var deadline: MonotonicTime { endsBy ?? awaitedUntil }
    /// When more should be received from a publisher, so that it keeps to its rate: until then, TCP holds it back.
    var receivesFrom: MonotonicTime { rate?.receivesFrom ?? .zero }
    /// Whether it was told why it may not publish.
    private(set) var isRefused = false
    /// The encoder's name, if the client tells it.
    var encoder: String? { conversation.encoder }

    /// Receives what has arrived, and sends what waits. `events` are what `poll` has reported.
    func exchange(_ events: Int32, _ buffer: inout [UInt8], now: MonotonicTime) {
        guard !isOver else { return }
        do throws(SocketError) {
            if connection.wantsWrite { try connection.flush() }
            // A TLS handshake may wait until it can send. While the rate limit holds a publisher back, being able to
            // send must not resume receiving.
            let ready = receivesFrom <= now ? POLLIN | POLLOUT : POLLIN
            if events & (ready | POLLHUP | POLLERR) != 0 { try receive(&buffer, now: now) }
        } catch {
            return end(because: "the connection has failed: \(error)")
        }
        guard let endsBy else {
            if now >= awaitedUntil {
                end(because: silence == nil ? "it published nothing" : "nothing came for too long")
            }
            return
        }
        if now >= endsBy { return end(because: reason) }
        // So that the client doesn't wait for more. Closing now could destroy the answer on its way.
        if !connection.hasPending { shutdown(connection.descriptor, Int32(SHUT_WR)) }
    }

    private func receive(_ buffer: inout [UInt8], now: MonotonicTime) throws(SocketError) {
        switch try connection.receive(into: &buffer) {
        case .wouldBlock: return
        case .closed: end(because: reason)
        case .bytes(let count):
            guard endsBy == nil else { return }
            if let silence { awaitedUntil = now + silence }
            rate?.note(byteCount: count, now: now)
            conversation.receive(buffer[..<count])
        }
    }

    /// What the client has sent next; nil if nothing more has arrived. Commands are answered here.
    func next(now: MonotonicTime) -> Event? {
        guard !isOver, endsBy == nil else { return nil }
        do {
            while let step = try conversation.next() {
                switch step {
                case .send(let bytes): try send(bytes)
                case .publish(let place): return .publish(place)
                case .media(let media): return .media(media)
                case .unpublish:
                    // It may still send commands, which fail if the connection is gone.
                    finish([], because: nil, now: now)
                    return nil
                case .close(let bytes, let reason):
                    finish(bytes, because: reason, now: now)
                    return nil
                }
            }
        } catch {
            end(because: "\(error)")
        }
        return nil
    }

    /// From now on, it belongs to the thread of its publisher, which may be silent for so long and send so many bytes
    /// per second.
    func handOver(silence: Interval, bytesPerSecond: Int) {
        self.silence = silence
        rate = PublisherRate(bytesPerSecond: bytesPerSecond)
        awaitedUntil = .now() + silence
    }

    /// Tells the client that it may publish.
    func accept() {
        do throws(SocketError) {
            try send(conversation.accept())
        } catch {
            end(because: "the connection has failed: \(error)")
        }
    }

    /// Tells the client why it may not publish, and ends the connection.
    func refuse(_ refusal: RTMPRefusal, now: MonotonicTime) {
        guard !isOver, endsBy == nil else { return }
        isRefused = true
        finish(conversation.refuse(refusal), because: refusal.description, now: now)
    }

    private func finish(_ bytes: [UInt8], because reason: String?, now: MonotonicTime) {
        self.reason = reason
        endsBy = now + Self.farewell
        guard !bytes.isEmpty else { return }
        do throws(SocketError) {
            try send(bytes)
        } catch {
            end(because: reason)
        }
    }

    private func send(_ bytes: [UInt8]) throws(SocketError) {
        guard connection.pendingBytes <= Self.maxUnwritten else {
            throw .queueFull(pending: connection.pendingBytes, limit: Self.maxUnwritten)
        }
        try connection.enqueue(header: bytes)
    }

    /// Ends the connection at once.
    func end(because reason: String?) {
        guard !isOver else { return }
        self.reason = reason
        isOver = true
        connection.close()
    }
}
