public import ScreenRelayKit
public import Signalling
public import Threading

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
    /// - Throws: ``ServerError`` if the port is taken or can't be used, if the passphrase has another length than
    ///   ``passphraseLengths``, or if no descriptor or thread is left.
    public init(
        _ host: ScreenRelayHost, at wanted: ListenAddress, passphrase: String? = nil,
        limits: PublisherLimits = PublisherLimits(), log: EventLog = .silent
    ) throws(ServerError) {
        guard let wake = EventFD() else { throw ServerError("no file descriptor is left") }
        let served = ServedPublishers(of: host, over: .srt, limits: limits, wake: wake)
        let lines = LogRateLimiter(log)
        let listener = try SRTListener(
            at: wanted, passphrase: passphrase, gate: SRTGate(host, served, lines), wake: wake)
        address = ListenAddress(address: wanted.address, port: listener.port)
        let isStopped = Flag()
        let loop = Sent(SRTLoop(host, served, listener, isStopped, limits, lines))
        guard let thread = NamedThread("srt", blocksSignals: true, body: { loop.value.run() }) else {
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

    /// The callers that publish now.
    public var publishers: Int { served.count }
}
