import Clocks
import LinkTransport
public import MediaTypes
public import ScreenRelayKit
public import Signalling
import Synchronization
public import Threading

/// What clients of RTSP may take.
public struct RTSPServerLimits: Sendable {
    /// Simultaneous connections. Beyond that, the oldest one without a track is closed, of the address that has the
    /// most of them. If there is none, the new one is closed at once.
    public var connections = 1024
    /// Simultaneous connections of another machine.
    public var connectionsOfAddress = 128
    /// How long a session over UDP lasts without a request or report, and a connection without a session without a
    /// request: what the answers say, and a margin.
    public var timeout = Interval.seconds(70)
    /// How long a description waits for a track's first picture.
    public var firstPicture = Interval.seconds(5)
    /// How long after PLAY a player gets a second key frame.
    public var secondStart = Interval.milliseconds(1200)
    /// How long a player that begins waits for sound before it gets silence.
    public var soundTimeout = Interval.milliseconds(150)
    /// The limits for clients that publish.
    public var publishing = PublisherLimits()

    public init() {}
}

/// Serves the tracks of a host to players over RTSP 1.0 (RFC 2326), as `rtsp://HOST:PORT/ROOM/TRACK`, over UDP or over
/// the players' connections: their pictures as H.264, and their sound as Opus or PCMU.
///
/// Clients with the presenters' token may also publish, by ANNOUNCE and RECORD: H.264, Opus, AAC, PCMU and PCMA. A
/// track has one source at a time.
///
/// A room that isn't open wants its token as the password of Basic or Digest authentication (RFC 2617). Each connection
/// has a session of its own, which ends with it. A player that takes too little loses pictures up to the next key
/// frame, alone.
public final class RTSPServer: Sendable {
    /// Where it listens, with the actual port.
    public let address: ListenAddress

    /// The numbers of players that have something new; its wake-up ends the server too.
    private let inbox: Mailbox<Int>
    private let isStopped: Flag
    private let counts: Counts
    private let served: ServedPublishers
    private let thread: NamedThread

    /// What other threads may know.
    final class Counts: Sendable {
        let sessions = Atomic<Int>(0)
    }

    /// Starts to listen. The server ends when it is stopped or released.
    ///
    /// - Throws: ``ServerError`` if the port is taken or can't be used, or if no descriptor or thread is left.
    public init(
        _ host: ScreenRelayHost, at wanted: ListenAddress, limits: RTSPServerLimits = RTSPServerLimits(),
        log: EventLog = .silent
    ) throws(ServerError) {
        let listener: SocketListener
        do throws(SocketError) {
            let place = wanted.descriptor.map { LinkAddress.descriptor($0) }
            listener = try SocketListener(at: place ?? .tcp(host: wanted.address, port: wanted.port), hasToken: true)
        } catch {
            if case .portTaken = error { throw ServerError(taken: wanted.port) }
            throw ServerError("\(error)")
        }
        guard case .tcp(_, let port) = listener.address else { throw ServerError("it is not a TCP port") }
        address = ListenAddress(address: wanted.address, port: port)
        guard let inbox = Mailbox<Int>() else { throw ServerError("no file descriptor is left") }
        let served = ServedPublishers(of: host, over: .rtsp, limits: limits.publishing, wake: inbox.wake)
        let counts = Counts()
        let isStopped = Flag()
        let ports = try RTSPPorts.open(beside: wanted)
        let loop = Sent(
            try RTSPLoop(
                host, served, listener: listener, ports: ports, inbox: inbox, isStopped: isStopped, limits: limits,
                counts: counts, log: log))
        guard let thread = NamedThread("rtsp", blocksSignals: true, body: { loop.value.run() }) else {
            throw ServerError("no thread is left")
        }
        self.inbox = inbox
        self.isStopped = isStopped
        self.counts = counts
        self.served = served
        self.thread = thread
    }

    deinit { stop() }

    /// Ends all sessions and stops listening. Returns when that is done.
    public func stop() {
        isStopped.set()
        inbox.wake.signal()
        thread.join()
    }

    /// The players' sessions that are set up now.
    public var sessions: Int { counts.sessions.load(ordering: .relaxed) }

    /// The clients that publish now, or have announced that they will.
    public var publishers: Int { served.count }
}
