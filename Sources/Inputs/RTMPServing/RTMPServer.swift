import LinkTransport
public import ScreenRelayKit
public import Signalling
public import Threading

/// Accepts publishers over RTMP into the rooms of a host, as `rtmp://HOST:PORT/live` with the stream key
/// `ROOM?token=TOKEN`. The token is the presenters'. If the host has a certificate, the same port accepts RTMP over TLS
/// too: `rtmps://HOST:PORT/live`.
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
    /// - Parameter connections: simultaneous connections that don't publish yet. Beyond that, the oldest one of the
    ///   address that has the most of them is closed.
    /// - Throws: ``ServerError`` if the port or the host's certificate can't be used, if the port is taken, or if no
    ///   descriptor or thread is left.
    public init(
        _ host: ScreenRelayHost, at wanted: ListenAddress, limits: PublisherLimits = PublisherLimits(),
        connections: Int = 256, log: EventLog = .silent
    ) throws(ServerError) {
        let listener: SocketListener
        do throws(SocketError) {
            listener = try SocketListener(at: .tcp(host: wanted.address, port: wanted.port), hasToken: true)
        } catch {
            if case .portTaken = error { throw ServerError(taken: wanted.port) }
            throw ServerError("\(error)")
        }
        guard case .tcp(_, let port) = listener.address else { throw ServerError("it is not a TCP port") }
        address = ListenAddress(address: wanted.address, port: port)
        guard let wake = EventFD() else { throw ServerError("no file descriptor is left") }
        let served = ServedPublishers(of: host, over: .rtmp, limits: limits, wake: wake)
        let isStopped = Flag()
        let loop: Sent<RTMPLoop>
        do throws(SocketError) {
            loop = Sent(
                try RTMPLoop(
                    host, served, listener: listener, wake: wake, isStopped: isStopped, limits: limits,
                    connections: connections, log: log))
        } catch {
            throw ServerError("\(error)")
        }
        guard let thread = NamedThread("rtmp", blocksSignals: true, body: { loop.value.run() }) else {
            throw ServerError("no thread is left")
        }
        self.wake = wake
        self.isStopped = isStopped
        self.served = served
        self.thread = thread
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
