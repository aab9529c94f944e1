import Clocks
public import MediaFiles
public import MediaTypes
public import ScreenRelayKit
import Synchronization
public import Threading

/// What a pull tells its user.
public enum PullEvent: Hashable, Sendable {
    /// The first picture or sound of a connection, or of a file, has come that can be shown.
    case connected
    /// The file is at its end, or the server has ended the connection, which is connected again.
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
        /// How long nobody must have watched or listened before the server is asked to pause.
        public var idle = Interval.seconds(5)
        /// Whether to read over RTSPS, where nothing checks the server's certificate.
        public var acceptsAnyCertificate = false

        public init() {}
    }

    private let shared: Shared
    private let thread: NamedThread

    /// What the source's thread and others share.
    final class Shared: Sendable {
        let wake: EventFD
        let isStopped = Flag()
        /// Whether nobody watches the pictures, or there are none.
        let isUnwatched = Flag()
        /// Whether anybody listens to the sound.
        let isHeard = Flag()
        /// Whether the connection has brought anything of use.
        let hasCome = Flag()
        let connection = Mutex<MediaConnection?>(nil)
        let pictures = Atomic<Int>(0)

        init?() {
            guard let wake = EventFD() else { return nil }
            self.wake = wake
        }

        /// Whether nobody watches or listens.
        var isIdle: Bool { isUnwatched.isSet && !isHeard.isSet }
    }

    /// Begins to read. `track` must have no other source.
    ///
    /// - Parameter onEvent: called on the source's thread with what happens; it must not block.
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
        // A name that is being looked up can't be given up; the thread ends after that by itself.
        thread.join(until: .now() + .seconds(2))
    }

    /// The pictures read so far.
    public var pictures: Int { shared.pictures.load(ordering: .relaxed) }
}
