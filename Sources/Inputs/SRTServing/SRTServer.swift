public import MediaTypes
public import ScreenRelayKit
public import Signalling
public import Threading

/// Why a server can't be started, in one line.
public struct SRTServerError: Error, Sendable, CustomStringConvertible {
    public let description: String
    /// Whether another program has the port.
    public let isTaken: Bool

    init(_ description: String, isTaken: Bool = false) {
        (self.description, self.isTaken) = (description, isTaken)
    }
}

/// The limits for callers of an SRT server.
public struct SRTServerLimits: Sendable {
    /// Simultaneous publishers, each of which has a thread. libsrt keeps nothing of a caller that hasn't finished its
    /// handshake.
    public var publishers = 64
    /// How long a caller may take until its stream begins, and then until it is known what is in it.
    public var greeting = Interval.seconds(10)
    /// How long a publisher may send nothing. While it is connected, no other one can replace it.
    public var silence = Interval.seconds(20)
    /// How long a track that was made for a publisher is kept after it has left.
    public var unpublished = Interval.seconds(60)
    /// How many bytes a publisher may send per second on average, and at once. Beyond that, it is disconnected.
    public var bytesPerSecond = 12_500_000

    public init() {}
}

/// Accepts publishers over SRT into the rooms of a host, with an MPEG transport stream and the stream identifier
/// `publish:ROOM,TOKEN` or `#!::r=ROOM,m=publish,s=TOKEN`. The token is the presenters'.
///
/// H.264 without B-frames and Opus are passed on as they are; other codecs are converted, as for a ``Pull``. A track
/// has one source at a time.
public final class SRTServer: Sendable {
    /// The allowed lengths of a passphrase in bytes.
    public static let passphraseLengths = 10...79

    /// Where it listens, with the actual port.
    public let address: ListenAddress

    private let wake: EventFD
    private let isStopped: Flag
    private let served: ServedPublishers
    private let thread: NamedThread

    /// Starts to listen. The server ends when it is stopped or released.
    ///
    /// - Parameter passphrase: what streams are encrypted with (AES-128); callers without it are rejected. With nil,
    ///   streams aren't encrypted.
    /// - Throws: ``SRTServerError`` if the port is taken or can't be used, if the passphrase has another length than
    ///   ``passphraseLengths``, or if no descriptor or thread is left.
    public init(
        _ host: ScreenRelayHost, at wanted: ListenAddress, passphrase: String? = nil,
        limits: SRTServerLimits = SRTServerLimits(), log: EventLog = .silent
    ) throws(SRTServerError) {
        guard let wake = EventFD() else { throw SRTServerError("no file descriptor is left") }
        let served = ServedPublishers(
            of: host, over: .srt, limit: limits.publishers, unpublished: limits.unpublished, wake: wake)
        let lines = LogRateLimiter(log)
        let listener = try SRTListener(
            at: wanted, passphrase: passphrase, gate: SRTGate(host, served, lines), wake: wake)
        address = ListenAddress(address: wanted.address, port: listener.port)
        let isStopped = Flag()
        let loop = Sent(SRTLoop(host, served, listener, isStopped, limits, lines))
        guard let thread = NamedThread("srt", blocksSignals: true, body: { loop.value.run() }) else {
            throw SRTServerError("no thread is left")
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

    /// The callers that publish now.
    public var publishers: Int { served.count }
}
