import LinkTransport
public import MediaTypes
public import ScreenRelayKit
public import Signalling
public import Threading

/// Why a server can't be started, in one line.
public struct RTMPServerError: Error, Sendable, CustomStringConvertible {
    public let description: String
    /// Whether another program has the port.
    public let isTaken: Bool

    init(_ description: String, isTaken: Bool = false) {
        (self.description, self.isTaken) = (description, isTaken)
    }
}

/// The limits for clients of an RTMP server.
public struct RTMPServerLimits: Sendable {
    /// Simultaneous connections that don't publish yet. Beyond that, the oldest one of the address that has the most of
    /// them is closed.
    public var connections = 256
    /// Simultaneous publishers, each of which has a thread.
    public var publishers = 64
    /// How long a client may take until it publishes.
    public var greeting = Interval.seconds(10)
    /// How long a publisher may send nothing. While it is connected, no other one can replace it.
    public var silence = Interval.seconds(20)
    /// How many bytes a publisher may send per second on average, and at once. Beyond that, its connection isn't read
    /// for a while, so that TCP holds it back.
    public var bytesPerSecond = 12_500_000
    /// How long a track that was made for a publisher is kept after it has left.
    public var unpublished = Interval.seconds(60)

    public init() {}
}

/// Accepts publishers over RTMP into the rooms of a host, as `rtmp://HOST:PORT/live` with the stream key
/// `ROOM?token=TOKEN`. The token is the presenters'.
///
/// H.264 without B-frames is passed on as it is; H.264 with B-frames is re-encoded, and AAC is converted to Opus. A
/// track has one source at a time.
public final class RTMPServer: Sendable {
    /// Where it listens, with the actual port.
    public let address: ListenAddress

    private let wake: EventFD
    private let isStopped: Flag
    private let served: ServedPublishers
    private let thread: NamedThread

    /// Starts to listen. The server ends when it is stopped or released.
    ///
    /// - Throws: ``RTMPServerError`` if the port is taken or can't be used, or if no descriptor or thread is left.
    public init(
        _ host: ScreenRelayHost, at wanted: ListenAddress, limits: RTMPServerLimits = RTMPServerLimits(),
        log: EventLog = .silent
    ) throws(RTMPServerError) {
        let listener: LinkListener
        do throws(LinkTransportError) {
            listener = try LinkListener(at: .tcp(host: wanted.address, port: wanted.port), hasToken: true)
        } catch {
            if case .portTaken = error {
                throw RTMPServerError("the port \(wanted.port) is taken by another program", isTaken: true)
            }
            throw RTMPServerError("\(error)")
        }
        guard case .tcp(_, let port) = listener.address else { throw RTMPServerError("it is not a TCP port") }
        address = ListenAddress(address: wanted.address, port: port)
        guard let wake = EventFD() else { throw RTMPServerError("no file descriptor is left") }
        let served = ServedPublishers(
            of: host, over: .rtmp, limit: limits.publishers, unpublished: limits.unpublished, wake: wake)
        let isStopped = Flag()
        let loop = Sent(
            RTMPLoop(
                host, served, listener: listener, wake: wake, isStopped: isStopped, limits: limits, log: log))
        guard let thread = NamedThread("rtmp", blocksSignals: true, body: { loop.value.run() }) else {
            throw RTMPServerError("no thread is left")
        }
        (self.wake, self.isStopped, self.served, self.thread) = (wake, isStopped, served, thread)
    }

    deinit { stop() }

    /// Ends all publishers and stops listening. Returns when that is done.
    public func stop() {
        isStopped.set()
        wake.signal()
        thread.join()
    }

    /// The clients that publish now.
    public var publishers: Int { served.count }
}
