import Clocks
public import MediaFiles
public import MediaTypes
public import ScreenRelayKit
import Synchronization
public import Threading

/// An event that a pull reports to its user.
public enum PullEvent: Hashable, Sendable {
    /// The first picture or sound of a connection, or of a file, that can be shown has arrived.
    case connected
    /// The file is at its end, or the server has ended the connection, which is made again.
    case ended
    /// Connecting or reading has failed, for this reason. A server is connected again; while the reason stays the same,
    /// further failures are not told. A file is not tried again.
    case failed(because: String)
}

/// Publishes the pictures and the sound of a server or a file as a track, for as long as it lives.
///
/// H.264 and Opus pass as they are; other codecs are decoded, and the host encodes their pictures and their sound. A
/// server that fails or goes is connected again, after waits that grow from one to ten seconds.
/// A file is read once, at its own pace. While nobody watches or listens, a server that can is asked to pause.
public final class Pull: Sendable {
    /// How a source is treated.
    public struct Settings: Sendable {
        /// The timeouts of connecting and reading.
        public var timeouts = MediaReader.Timeouts()
        /// The first wait before connecting again, which doubles up to `maxWait`.
        public var firstWait = Interval.seconds(1)
        /// The longest wait before connecting again.
        public var maxWait = Interval.seconds(10)
        /// The time without viewers and listeners before the server is asked to pause.
        public var idle = Interval.seconds(5)
        /// Whether to read over RTSPS, where nothing checks the server's certificate.
        public var acceptsAnyCertificate = false

        public init() {}
    }

    private let shared: Shared
    private let thread: NamedThread

    /// The state shared by the source's thread and others.
    package final class Shared: Sendable {
        let wake: EventFD
        let isStopped = Flag()
        /// Whether the pictures have no viewers, or there are no pictures.
        let isUnwatched = Flag()
        /// Whether the sound has listeners.
        let isHeard = Flag()
        /// Whether the connection has delivered anything of use.
        let hasCome = Flag()
        let connection = Mutex<MediaConnection?>(nil)
        let pictures = Atomic<Int>(0)

        /// Nil if the process has no file descriptor left.
        package init?() {
            guard let wake = EventFD() else { return nil }
            self.wake = wake
        }

        /// Whether there are neither viewers nor listeners.
        var isIdle: Bool { isUnwatched.isSet && !isHeard.isSet }
    }

    /// Begins to read. `track` must have no other source.
    ///
    /// - Parameter onEvent: called on the source's thread with each event; it must not block.
    /// - Throws: ``PullError`` if the server's certificate can't be checked and the settings don't allow that, or if
    ///   the process has no thread or descriptor left.
    public init(
        _ address: PullAddress, into track: HostedTrack, settings: Settings = Settings(), log: EventLog = .silent,
        onEvent: @escaping @Sendable (PullEvent) -> Void = { _ in }
    ) throws(PullError) {
        guard settings.acceptsAnyCertificate || !address.takesAnyCertificate else {
            throw PullError("the certificate of an rtsps server isn't verified")
        }
        guard let shared = Shared() else { throw PullError("no file descriptor is left for a source") }
        self.shared = shared
        let run = PullRun(address, track, settings, shared, log, onEvent)
        guard let thread = NamedThread("source", blocksSignals: true, body: { run.run() }) else {
            throw PullError("no thread is left for a source")
        }
        self.thread = thread
    }

    deinit { stop() }

    /// Ends the connection and the track's source. Returns when that is done, or after 2 s.
    public func stop() {
        shared.isStopped.set()
        shared.connection.withLock { $0?.abandon() }
        shared.wake.signal()
        // A name lookup can't be cancelled; the thread ends after the lookup by itself.
        thread.join(until: .now() + .seconds(2))
    }

    /// The pictures read so far.
    public var pictures: Int { shared.pictures.load(ordering: .relaxed) }
}
